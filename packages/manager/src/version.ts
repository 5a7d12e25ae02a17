/** --version: prints, or makes the process report another version. Pure. */
import { managerErrors } from './errors.ts'

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
  // As with upstream's builds, only what follows the release may be another: v1.36.0-mine.
  if (/^v\d+\.\d+\.\d+/.test(value) && value.split(/[-+]/)[0] === version) return { version: value }
  const why = value.startsWith('v')
    ? `version ${JSON.stringify(value)} must match major/minor/patch of default version ${JSON.stringify(version)}`
    : `strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`
  throw managerErrors.make(
    'FLAG_INVALID',
    `invalid argument ${JSON.stringify(value)} for "--version" flag: ${why}`,
  )
}
