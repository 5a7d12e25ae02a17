/** Semantic versions. https://semver.org/spec/v2.0.0.html */
import { onePass } from '../cost.ts'
import { declare } from '../signature.ts'
import type { Library } from '../signature.ts'
import { opaqueType } from '../types.ts'
import { EvaluationError, MAX_UINT, Opaque } from '../values.ts'

const TYPE = 'kubernetes.Semver'
const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/

class SemverValue extends Opaque {
  readonly typeName = TYPE
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly preRelease: readonly string[]

  constructor(match: RegExpExecArray) {
    super()
    this.numbers = [BigInt(match[1]!), BigInt(match[2]!), BigInt(match[3]!)]
    this.preRelease = match[4]?.split('.') ?? []
  }

  override equals(other: Opaque): boolean {
    return compare(this, other as SemverValue) === 0
  }
}

function parse(text: string, normalize = false): SemverValue | undefined {
  const normal = normalize ? normalized(text) : text
  const match = normal === undefined ? null : VERSION.exec(normal)
  if (match === null) return undefined
  const value = new SemverValue(match)
  return value.numbers.some((number) => number > MAX_UINT) ? undefined : value
}

/** Without a leading `v` and leading zeros; missing numbers are zero. */
function normalized(text: string): string | undefined {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.')
  const parts = [major, ...(minor === undefined ? [] : [minor])]
  if (rest.length > 0) parts.push(rest.join('.'))
  const clean = parts.map((part) => {
    if (part.length < 2) return part
    const trimmed = part.replace(/^0+/, '')
    return /^\d/.test(trimmed) ? trimmed : `0${trimmed}`
  })
  if (clean.length < 3 && /[+-]/.test(clean.at(-1)!)) return undefined
  while (clean.length < 3) clean.push('0')
  return clean.join('.')
}

function compare(a: SemverValue, b: SemverValue): number {
  for (let index = 0; index < 3; index++) {
    const [x, y] = [a.numbers[index]!, b.numbers[index]!]
    if (x !== y) return x < y ? -1 : 1
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0)
    return Math.sign(b.preRelease.length - a.preRelease.length)
  const length = Math.max(a.preRelease.length, b.preRelease.length)
  for (let index = 0; index < length; index++) {
    const order = compareIdentifiers(a.preRelease[index], b.preRelease[index])
    if (order !== 0) return order
  }
  return 0
}

/** Numbers come before words, and are compared by value; fewer identifiers come first. */
function compareIdentifiers(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1
  const [x, y] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (x && y) return BigInt(a) < BigInt(b) ? -1 : 1
  if (x !== y) return x ? -1 : 1
  return a < b ? -1 : 1
}

function semver(text: string, normalize?: boolean): SemverValue {
  const value = parse(text, normalize)
  if (value === undefined) throw new EvaluationError(parseProblem(text))
  return value
}

function parseProblem(text: string): string {
  if (text === '') return 'Version string empty'
  if (text.split('.').length < 3) return 'No Major.Minor.Patch elements found'
  return `Invalid character(s) found in version ${JSON.stringify(text)}`
}

export const SEMVER: Library = {
  constants: [{ name: TYPE, type: opaqueType(TYPE) }],
  overloads: [
    declare(`semver(string): ${TYPE}`, semver, onePass()),
    declare(`semver(string, bool): ${TYPE}`, semver, onePass()),
    declare('isSemver(string): bool', (text: string) => parse(text) !== undefined, onePass()),
    declare(
      'isSemver(string, bool): bool',
      (text: string, normalize: boolean) => parse(text, normalize) !== undefined,
      onePass(),
    ),
    ...['major', 'minor', 'patch'].map((name, index) =>
      declare(`${TYPE}.${name}(): int`, ({ numbers }: SemverValue) => numbers[index]!),
    ),
    declare(
      `${TYPE}.isGreaterThan(${TYPE}): bool`,
      (a: SemverValue, b: SemverValue) => compare(a, b) > 0,
    ),
    declare(
      `${TYPE}.isLessThan(${TYPE}): bool`,
      (a: SemverValue, b: SemverValue) => compare(a, b) < 0,
    ),
    declare(`${TYPE}.compareTo(${TYPE}): int`, (a: SemverValue, b: SemverValue) =>
      BigInt(compare(a, b)),
    ),
  ],
}
