import { compatibilityVersions } from '../options/options.ts'
import type { Options } from '../options/options.ts'

/**
 * What the server compares candidates by: of several it prefers the one that emulates the oldest version, which in a roll-out need not be
 * the oldest binary. Contract: docs/behaviour/runtime/manager.md, Leader election wiring.
 */
export function candidateVersions(
  version: string,
  options: Options,
): { readonly binaryVersion: string; readonly emulationVersion: string } {
  return {
    binaryVersion: version.replace(/^v/, ''),
    emulationVersion: `${compatibilityVersions(options).emulation}.0`,
  }
}
