/**
 * The door for tests: the memory backend as a double of a real one, and the contract that every backend keeps.
 *
 * @module
 */

export * from "./adapters/memory.ts";
export { ContractViolation } from "./test/contract/check.ts";
export {
  asScript,
  asTwin,
  type Fixture,
  type FixtureName,
  fixtures,
  type Invocation,
  twins,
} from "./test/contract/programs.ts";
export {
  type CaseResult,
  type ContractMatrix,
  contractCases,
  contractMatrix,
  type Framework,
  reasonToSkip,
  registerContract,
  runContract,
} from "./test/contract/suite.ts";
export type {
  ContractCase,
  ContractConfig,
  ContractContext,
  ContractDirectory,
  ContractScale,
  ContractTarget,
} from "./test/contract/target.ts";
