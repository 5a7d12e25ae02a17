/** Which version comes next, and where the packages name each other's. Pure. */
import { increment, isGreaterThan, isValid, normalize } from 'verkit'

interface Since {
  /** Of the last tag; absent before the first release. */
  readonly released?: string
  /** Of the manifests. */
  readonly current: string
  readonly isBreaking: boolean
  readonly hasFeatures: boolean
}

/** What cannot be released, in one line that says what to do. */
export class Refusal extends Error {}

/**
 * `asked` is `patch`, `minor`, `major` or a version. Without it the commits say: what breaks is major (minor before 1.0), a feature
 * is minor, all else a patch; and the first release has the version that the manifests have.
 */
export function nextVersion(asked: string | undefined, since: Since): string {
  const { released, current } = since
  if (asked === undefined && released === undefined) return current
  const step = asked ?? stepOf(since)
  if (step === 'patch' || step === 'minor' || step === 'major')
    return increment(released ?? current, step)!
  if (!isValid(step) || normalize(step) !== step)
    throw new Refusal(`${step} is no version: say patch, minor, major, or one such as 1.2.3`)
  if (released !== undefined && !isGreaterThan(step, released))
    throw new Refusal(`${step} is not higher than ${released}, the last release`)
  return step
}

function stepOf({ released = '', isBreaking, hasFeatures }: Since): 'patch' | 'minor' | 'major' {
  if (isBreaking && !released.startsWith('0.')) return 'major'
  return isBreaking || hasFeatures ? 'minor' : 'patch'
}

interface Dependent {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** The manifest with this version of every package that is among `names`. */
export function withVersionsOf<T extends Dependent>(
  manifest: T,
  names: ReadonlySet<string>,
  version: string,
): T {
  const changed = (['dependencies', 'devDependencies'] as const).flatMap((kind) => {
    const old = manifest[kind]
    if (old === undefined) return []
    const entries = Object.entries(old).map(([name, range]) => [
      name,
      names.has(name) ? version : range,
    ])
    return [[kind, Object.fromEntries(entries)]]
  })
  return { ...manifest, ...Object.fromEntries(changed) }
}

/** The source of `packages/gyro/src/version.ts` with this version. */
export function withVersionConstant(source: string, version: string): string {
  const line = /^export const VERSION = '[^']*'$/m
  if (!line.test(source)) throw new Refusal('version.ts has no line "export const VERSION = ..."')
  return source.replace(line, `export const VERSION = '${version}'`)
}

export interface Publishable {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Nobody may find a package whose dependencies are not there yet: those come first, else by name. */
export function publishOrder<T extends Publishable>(packages: readonly T[]): readonly T[] {
  const waiting = new Map(packages.toSorted(byName).map((one) => [one.name, one]))
  const ordered: T[] = []
  while (waiting.size > 0) {
    const free = [...waiting.values()].find(({ dependencies = {} }) =>
      Object.keys(dependencies).every((name) => !waiting.has(name)),
    )
    if (free === undefined)
      throw new Refusal(
        `packages depend on each other in a circle: ${[...waiting.keys()].join(', ')}`,
      )
    waiting.delete(free.name)
    ordered.push(free)
  }
  return ordered
}

function byName(a: Publishable, b: Publishable): number {
  return a.name < b.name ? -1 : 1
}
