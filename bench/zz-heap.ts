import { createRuntime } from "../mod.ts";
const r = await createRuntime({ runtime: { backend: "native" } });
const caller = new AbortController();
const stdin = new Uint8Array(100_000);
for (let round = 0; round < 8; round++) {
  let n = 0;
  const w = async () => { while (n++ < 2000) { const k = n % 3; if (k === 0) await r.execute("/bin/true", [], { signal: caller.signal }); else if (k === 1) await r.execute("cat", [], { stdin }); else await r.execute("sleep", ["5"], { timeoutMs: 5 }); } };
  await Promise.all(Array.from({ length: 32 }, w));
  await new Promise((r) => setTimeout(r, 500)); (globalThis as any).gc?.(); await new Promise((r) => setTimeout(r, 200)); (globalThis as any).gc?.();
  const m = process.memoryUsage(); console.log(round, Math.round(m.rss / 1e6), (m.heapUsed / 1e6).toFixed(1), (m.external / 1e6).toFixed(1), (m.arrayBuffers / 1e6).toFixed(1));
}
await r.close();
