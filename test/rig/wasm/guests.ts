/** The guest programs: what each is made from, by which compiler. */

import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { slowToCompile } from "../../fixtures/guests/slow-to-compile.ts";
import { once, tool } from "./make.ts";
import { digest, digestOfFiles, guestSources, rigHome } from "./place.ts";
import { assemble, wasmtimeVersion } from "./wasmtime.ts";

interface Recipe {
  readonly name: string;
  /** Changes with the sources, the compiler, and how it is called. */
  readonly key: string;
  readonly build: (output: string) => void;
}

/** Every guest that is not there yet. Answers their paths by name. */
export function buildGuests(): Readonly<Record<string, string>> {
  const recipes = [...rustRecipes("contract"), ...rustRecipes("escape"), goRecipe(), ...watRecipes()];
  return Object.fromEntries(
    recipes.map(({ name, key, build }) => {
      const path = join(rigHome, "guests", `${name.replaceAll("/", "-")}-${key}.wasm`);
      if (!existsSync(path)) console.log(`rig: building ${name} …`);
      return [name, once(path, build)];
    }),
  );
}

const rustRemedy = "It takes Rust by rustup: apt-get install rustup, and rustup default stable";

function rustRecipes(folder: string): readonly Recipe[] {
  const version = tool(rustRemedy, ["rustc", "-vV"]);
  return ["wasip1", "wasip2"].map((preview) => {
    const target = `wasm32-${preview}`;
    const command = ["rustc", "--edition", "2021", "-O", "-C", "strip=symbols", "--target", target, "main.rs", "-o"];
    const cwd = join(guestSources, folder);
    return {
      name: `${folder}/${preview}`,
      key: digest(version, digestOfFiles(cwd), ...command),
      build: (output) => {
        addTarget(target);
        tool(rustRemedy, [...command, output], { cwd });
      },
    };
  });
}

function addTarget(target: string): void {
  const library = String(tool(rustRemedy, ["rustc", "--print", "target-libdir", "--target", target])).trim();
  if (!existsSync(library)) tool(rustRemedy, ["rustup", "target", "add", target]);
}

function goRecipe(): Recipe {
  const remedy = "It takes Go 1.21 or later: apt-get install golang-go";
  // The compiler that is here, and nothing of a workspace around the checkout.
  const env = { GOOS: "wasip1", GOARCH: "wasm", GOTOOLCHAIN: "local", GOWORK: "off", GOFLAGS: "" };
  const command = ["go", "build", "-trimpath", "-ldflags=-s -w"];
  const cwd = join(guestSources, "go");
  return {
    name: "go",
    key: digest(tool(remedy, ["go", "version"], { env }), digestOfFiles(cwd), ...command),
    build: (output) => void tool(remedy, [...command, "-o", output, "main.go"], { cwd, env }),
  };
}

function watRecipes(): readonly Recipe[] {
  const texts = globSync("wat/*.wat", { cwd: guestSources }).map((path) => ({
    name: basename(path, ".wat"),
    text: readFileSync(join(guestSources, path), "utf8"),
  }));
  return [...texts, { name: "slow-to-compile", text: slowToCompile() }].map(({ name, text }) => ({
    name: `wat/${name}`,
    key: digest(wasmtimeVersion, text),
    build: (output) => writeFileSync(output, assemble(text)),
  }));
}
