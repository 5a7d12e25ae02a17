/** Who could lead, and who is best. Contract: docs/behaviour/runtime/leader-election.md, Server controller. */
import { compareStrings } from '@gyropilot/foundation'
import type { LeaseCandidate, LeaseCandidateSpec } from '@gyropilot/api'
import { OLDEST_EMULATION_VERSION } from '../kinds/coordination/strategy.ts'
import { compareSemanticVersions, parseTolerantVersion } from '@gyropilot/schema/semantic-version'
import type { SemanticVersion } from '@gyropilot/schema/semantic-version'

/** How long a candidate has to answer a ping, and how long its last renewal proves that it is alive. */
export const ANSWER_WITHIN_MS = 5_000
/** How long after its last renewal a candidate counts. */
export const CANDIDATE_LIFETIME_MS = 30 * 60_000

const NO_VERSION: SemanticVersion = { numbers: [0n, 0n, 0n], preRelease: [] }

export function isExpired({ spec }: LeaseCandidate, nowMs: number): boolean {
  return !(renewedMs(spec) + CANDIDATE_LIFETIME_MS >= nowMs)
}

/** NaN when it never renewed, which is before and after nothing. */
function renewedMs(spec: LeaseCandidateSpec | undefined): number {
  return Date.parse(spec?.renewTime ?? '')
}

export function hasRenewedWithin({ spec }: LeaseCandidate, forMs: number, nowMs: number): boolean {
  return renewedMs(spec) + forMs >= nowMs
}

/** Pinged, and not renewed since. */
function owesAnswer({ spec }: LeaseCandidate): boolean {
  return Date.parse(spec?.pingTime ?? '') > renewedMs(spec)
}

/** Still owes an answer, and can give it in time. */
export function isAnswerAwaited(candidate: LeaseCandidate, nowMs: number): boolean {
  const pingedMs = Date.parse(candidate.spec?.pingTime ?? '')
  return owesAnswer(candidate) && pingedMs + ANSWER_WITHIN_MS > nowMs
}

/** Gave no answer in time. It may be alive again when it renews. */
export function isSilent(candidate: LeaseCandidate, nowMs: number): boolean {
  return owesAnswer(candidate) && !isAnswerAwaited(candidate, nowMs)
}

/** Undefined: none has versions that can be compared. */
export function bestCandidate(candidates: readonly LeaseCandidate[]): LeaseCandidate | undefined {
  return candidates
    .filter(
      ({ spec }) =>
        parseTolerantVersion(spec?.emulationVersion ?? '') !== undefined &&
        parseTolerantVersion(spec?.binaryVersion ?? '') !== undefined,
    )
    .toSorted(compareCandidates)
    .at(0)
}

/** The better one first: oldest emulation version, oldest binary version, oldest object. Names make the order total. */
function compareCandidates(a: LeaseCandidate, b: LeaseCandidate): number {
  return (
    compareVersions(a.spec?.emulationVersion, b.spec?.emulationVersion) ||
    compareVersions(a.spec?.binaryVersion, b.spec?.binaryVersion) ||
    compareStrings(a.metadata?.creationTimestamp ?? '', b.metadata?.creationTimestamp ?? '') ||
    compareStrings(a.metadata?.name ?? '', b.metadata?.name ?? '')
  )
}

function compareVersions(a = '', b = ''): number {
  const [x, y] = [parseTolerantVersion(a), parseTolerantVersion(b)]
  return compareSemanticVersions(x ?? NO_VERSION, y ?? NO_VERSION)
}

type StrategyChoice = { readonly strategy: string } | { readonly conflict: string }

/** That of the newest binary version; two of that version with different ones cannot be served. */
export function chosenStrategy(candidates: readonly LeaseCandidate[]): StrategyChoice {
  const [newest, ...others] = candidates.toSorted(
    (a, b) =>
      compareVersions(b.spec?.binaryVersion, a.spec?.binaryVersion) ||
      compareStrings(a.metadata?.name ?? '', b.metadata?.name ?? ''),
  )
  const strategy = newest?.spec?.strategy ?? OLDEST_EMULATION_VERSION
  const other = others.find(
    ({ spec }) =>
      compareVersions(spec?.binaryVersion, newest?.spec?.binaryVersion) === 0 &&
      spec?.strategy !== strategy,
  )
  if (other === undefined) return { strategy }
  const names = [newest, other].map((one) => JSON.stringify(one?.metadata?.name)).join(', ')
  return {
    conflict: `candidates ${names} at same binary version but received differing strategies ${strategy}, ${other.spec?.strategy}`,
  }
}
