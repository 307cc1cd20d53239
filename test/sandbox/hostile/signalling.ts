/** Attacks on other processes: signals, tracing, limits. */

import process from "node:process";
import { type Attack, allowed, python, saysAllowed } from "./attack.ts";
import { read, soon } from "./scene.ts";

const openFiles = (pid: number) => /^Max open files\s+(\d+)/m.exec(read(`/proc/${pid}/limits`))?.[1];
const niceness = (pid: number) => read(`/proc/${pid}/stat`).split(") ")[1]?.split(" ")[16];

export const signallingAttacks: readonly Attack[] = [
  {
    name: "kill another process",
    async stage({ victim }) {
      const { pid, state } = await victim();
      return { script: [`kill -KILL ${pid}; kill -KILL -- -${pid}`], succeeded: () => soon(() => state() === "gone") };
    },
  },
  {
    name: "stop another process",
    async stage({ victim }) {
      const { pid, state } = await victim();
      return { script: [`kill -STOP ${pid}`], succeeded: () => soon(() => state() === "T") };
    },
  },
  {
    name: "send a signal to the host",
    async stage({ defer }) {
      let came = false;
      // Nobody minds this one: where nothing listens to it, it is ignored.
      const listener = () => {
        came = true;
      };
      process.on("SIGWINCH", listener);
      defer(() => process.off("SIGWINCH", listener));
      return {
        script: [`kill -WINCH $PPID; kill -WINCH ${process.pid}`],
        async succeeded() {
          // A signal that was sent before the command's end is handled in the next turns of the event loop.
          await new Promise((resolve) => setTimeout(resolve, 50));
          return came;
        },
      };
    },
  },
  {
    name: "find any process of the host",
    async stage({ victim }) {
      const { pid } = await victim();
      return {
        script: [`kill -0 ${pid} && echo ALLOWED; kill -0 ${process.pid} && echo ALLOWED`],
        succeeded: saysAllowed,
      };
    },
  },
  {
    name: "trace another process",
    needs: ["python3"],
    async stage({ victim }) {
      const { pid } = await victim();
      const text = `print("${allowed}" if sys_call(101, 0x4206, int(sys.argv[1]), 0, 0) == 0 else "no")\n`;
      return { ...python(text, [`${pid}`]), succeeded: saysAllowed };
    },
  },
  {
    name: "lower another process's limits",
    needs: ["prlimit"],
    async stage({ victim }) {
      const { pid } = await victim();
      return { script: [`prlimit --pid ${pid} --nofile=17:17`], succeeded: () => openFiles(pid) === "17" };
    },
  },
  {
    name: "lower another process's priority",
    needs: ["renice"],
    async stage({ victim }) {
      const { pid } = await victim();
      return { script: [`renice -n 11 -p ${pid}`], succeeded: () => niceness(pid) === "11" };
    },
  },
];
