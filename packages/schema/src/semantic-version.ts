/** Semantic versions. https://semver.org/spec/v2.0.0.html */
import { goQuote } from './go/go-quote.ts'

const VERSION =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/
const MAX_NUMBER = 2n ** 64n - 1n
const DIGITS = /^\d+$/

export interface SemanticVersion {
  readonly numbers: readonly [major: bigint, minor: bigint, patch: bigint]
  readonly preRelease: readonly string[]
}

/** Undefined for what is no version by the letter. */
export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const match = VERSION.exec(text)
  if (match === null) return undefined
  const numbers = [BigInt(match[1]!), BigInt(match[2]!), BigInt(match[3]!)] as const
  const preRelease = match[4]?.split('.') ?? []
  const counted = preRelease.filter((part) => DIGITS.test(part)).map(BigInt)
  if ([...numbers, ...counted].some((number) => number > MAX_NUMBER)) return undefined
  return { numbers, preRelease }
}

/** Also `v1.36`: a leading `v` and leading zeros do not count, missing numbers are zero. */
export function parseTolerantVersion(text: string): SemanticVersion | undefined {
  const full = fullVersion(text)
  return full === undefined ? undefined : parseSemanticVersion(full)
}

/** With three numbers; undefined for a version without them that says more. */
function fullVersion(text: string): string | undefined {
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

/** What kube-apiserver says of a text that is no version. `tolerant`: as `parseTolerantVersion` reads it. */
export function semanticVersionProblem(text: string, tolerant: boolean): string {
  const full = tolerant ? fullVersion(text) : text
  if (full === undefined) return 'short version cannot contain PreRelease/Build meta data'
  if (full === '') return 'Version string empty'
  const [major, minor, ...rest] = full.split('.')
  if (rest.length === 0) return 'No Major.Minor.Patch elements found'
  const [, patch, preRelease, build] = /^([^+-]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(rest.join('.'))!
  return (
    numberProblem('Major', major!) ??
    numberProblem('Minor', minor!) ??
    numberProblem('Patch', patch!) ??
    preRelease?.split('.').map(preReleaseProblem).find(Boolean) ??
    build?.split('.').map(buildProblem).find(Boolean) ??
    `Invalid character(s) found in version ${goQuote(text)}`
  )
}

function numberProblem(name: string, text: string): string | undefined {
  const shown = goQuote(text)
  if (!/^\d*$/.test(text))
    return `Invalid character(s) found in ${name.toLowerCase()} number ${shown}`
  if (/^0./.test(text)) return `${name} number must not contain leading zeroes ${shown}`
  return countProblem(text)
}

function countProblem(text: string): string | undefined {
  const parsing = `strconv.ParseUint: parsing ${goQuote(text)}`
  if (text === '') return `${parsing}: invalid syntax`
  return BigInt(text) > MAX_NUMBER ? `${parsing}: value out of range` : undefined
}

function preReleaseProblem(text: string): string | undefined {
  const shown = goQuote(text)
  if (text === '') return 'Prerelease is empty'
  if (!/^[0-9A-Za-z-]+$/.test(text)) return `Invalid character(s) found in prerelease ${shown}`
  if (!DIGITS.test(text)) return undefined
  if (/^0./.test(text)) return `Numeric PreRelease version must not contain leading zeroes ${shown}`
  return countProblem(text)
}

function buildProblem(text: string): string | undefined {
  if (text === '') return 'Build meta data is empty'
  if (/^[0-9A-Za-z-]+$/.test(text)) return undefined
  return `Invalid character(s) found in build meta data ${goQuote(text)}`
}

/** Below zero: `a` is the older one. Build metadata does not count. */
export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): number {
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
