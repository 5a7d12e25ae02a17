/** Versions as Kubernetes' version utility reads them. Contract: docs/behaviour/runtime/manager.md, Feature gates and versions. Pure. */

/** Of the release whose flags and loops these are, 1.36. */
export const NEWEST_MINOR = 36

/** `1.36` each. */
export interface CompatibilityVersions {
  readonly emulation: string
  readonly minCompatibility: string
}

/** Without flags: what is new in 1.36 is known, and 1.35 may run beside it. */
export const CURRENT_VERSIONS: CompatibilityVersions = {
  emulation: `1.${NEWEST_MINOR}`,
  minCompatibility: `1.${NEWEST_MINOR - 1}`,
}

export interface Version {
  readonly numbers: readonly number[]
  /** What follows them. */
  readonly rest: string
}

const SHAPE = /^\s*v?(\d+(?:\.\d+)*)(.*)$/

/** At least two numbers, or just as many as `count`. Otherwise what is wrong with the text. */
export function parseVersion(text: string, count?: number): Version | string {
  const shown = JSON.stringify(text)
  const [, digits, rest = ''] = SHAPE.exec(text) ?? []
  if (digits === undefined) return `could not parse ${shown} as version`
  const parts = digits.split('.')
  if (count === undefined ? parts.length < 2 : parts.length !== count)
    return `illegal version string ${shown}`
  const padded = parts.find((part) => /^0\d/.test(part))
  if (padded !== undefined)
    return `illegal zero-prefixed version component ${JSON.stringify(padded)} in ${shown}`
  return { numbers: parts.map(Number), rest }
}
