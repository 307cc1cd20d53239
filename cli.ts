#!/usr/bin/env node
/** The program `prx-runtime`: its door. What a command needs is loaded when it is asked for. */

import process from "node:process";
import { keepCompiled } from "./cli/compile-cache.ts";

keepCompiled();
const { main } = await import("./cli/main.ts");
// Everything has been written by now, and stdin may still be open: nothing is to be waited for.
process.exit(await main(process.argv.slice(2)));
