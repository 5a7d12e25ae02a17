export { flagValueText, parseFlags } from './pflag.ts'
export type { FlagDefinition, FlagType, FlagValue, ParsedFlags } from './pflag.ts'
