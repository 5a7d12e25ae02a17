/** --version: prints, or makes the process report another version. Pure. */
import { managerErrors } from './errors.ts'
import { parseVersion } from './options/go-version.ts'

interface VersionAnswer {
  /** To be printed instead of running. */
  readonly print?: string
  /** What the process reports. */
  readonly version: string
}

/** `value` is that of --version; empty when it was not given. Throws FLAG_INVALID. */
export function versionAnswer(value: string, version: string, commit: string): VersionAnswer {
  if (/^(|0|f|F|false|FALSE|False)$/.test(value)) return { version }
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return { version, print: `Kubernetes ${version}` }
  if (value === 'raw') {
    const [major, minor] = version.slice(1).split('.')
    const fields = { Major: major, Minor: minor, GitVersion: version, GitCommit: commit }
    const pairs = Object.entries(fields).map(([name, text]) => `${name}:${JSON.stringify(text)}`)
    return { version, print: `version.Info{${pairs.join(', ')}}` }
  }
  const why = problemOf(value, version)
  if (why === undefined) return { version: value }
  throw managerErrors.make(
    'FLAG_INVALID',
    `invalid argument ${JSON.stringify(value)} for "--version" flag: ${why}`,
  )
}

/** As with upstream's builds, only what follows the release may be another: v1.36.0-mine. */
function problemOf(value: string, version: string): string | undefined {
  if (!value.startsWith('v'))
    return `strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`
  const parsed = parseVersion(value, 3)
  if (typeof parsed === 'string') return parsed
  return `v${parsed.numbers.join('.')}` === version && /^(?:$|[-+])/.test(parsed.rest)
    ? undefined
    : `version ${JSON.stringify(value)} must match major/minor/patch of default version ${JSON.stringify(version)}`
}
