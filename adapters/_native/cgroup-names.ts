/** What the cgroups of this library are called. Whoever finds one knows by its name what it is, without any other record. */

const prefix = "prx-runtime-";

/** Holds the leaves of one runtime. */
export function trunkName(owner: string): string {
  return `${prefix}${owner}`;
}

/** Where hosts are while their own cgroup hands controllers down. */
export const seatName = `${prefix}host`;

/** Stays empty, and says that a controller was handed down by us and not by the system. */
export function markerName(controller: string): string {
  return `${seatName}+${controller}`;
}

export function isTrunkName(name: string): boolean {
  return name.startsWith(prefix) && name !== seatName && !name.startsWith(`${seatName}+`);
}
