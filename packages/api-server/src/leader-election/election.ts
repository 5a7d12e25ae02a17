/**
 * What an election of a lease's holder needs next. Nothing is remembered between two looks: the state of an election is
 * what the lease and its candidates say. Contract: docs/behaviour/runtime/leader-election.md, Server controller.
 */
import type { Lease, LeaseCandidate } from '@gyropilot/api'
import { semanticEqual } from '@gyropilot/api'
import { formatMicroTime } from '@gyropilot/foundation'
import { OLDEST_EMULATION_VERSION } from '../kinds/coordination/strategy.ts'
import {
  ANSWER_WITHIN_MS,
  CANDIDATE_LIFETIME_MS,
  bestCandidate,
  chosenStrategy,
  hasRenewedWithin,
  isAnswerAwaited,
  isExpired,
  isSilent,
} from './candidates.ts'

type LeaseSpec = NonNullable<Lease['spec']>

/** Of a lease that the server made or gave away: its holder's first renewal sets the holder's own. */
const FIRST_DURATION_SECONDS = 5

export interface Elected {
  readonly strategy: string
  /** Absent: a strategy that is not the server's. Somebody else sets the holder. */
  readonly holder?: string
}

export type Step =
  /** The holder is the best, or nobody can be elected. */
  | { readonly kind: 'rest' }
  /** Answers are on their way. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'ping'; readonly names: readonly string[] }
  | { readonly kind: 'elect'; readonly elected: Elected }
  | { readonly kind: 'conflict'; readonly message: string }

export function nextStep(
  lease: Lease | undefined,
  candidates: readonly LeaseCandidate[],
  nowMs: number,
): Step {
  const counting = candidates.filter((candidate) => !isExpired(candidate, nowMs))
  if (counting.length === 0) return { kind: 'rest' }
  const need = electionNeed(lease?.spec, counting, nowMs)
  return need === 'needed' ? electionStep(counting, nowMs) : need
}

function electionNeed(
  spec: LeaseSpec | undefined,
  candidates: readonly LeaseCandidate[],
  nowMs: number,
): Step | 'needed' {
  if (!spec?.holderIdentity || isLeaseExpired(spec, nowMs)) return 'needed'
  // Who does not answer is not asked again every few seconds until it is forgotten.
  const heard = candidates.filter((candidate) => !isSilent(candidate, nowMs))
  if (heard.some((candidate) => !hasRenewedWithin(candidate, CANDIDATE_LIFETIME_MS / 2, nowMs)))
    return 'needed'
  const choice = chosenStrategy(candidates)
  if ('conflict' in choice) return { kind: 'conflict', message: choice.conflict }
  if (choice.strategy !== OLDEST_EMULATION_VERSION) return { kind: 'rest' }
  const best = bestCandidate(heard)
  const isRight = best === undefined || best.metadata?.name === spec.holderIdentity
  return isRight ? { kind: 'rest' } : 'needed'
}

function electionStep(candidates: readonly LeaseCandidate[], nowMs: number): Step {
  const isAlive = (candidate: LeaseCandidate) =>
    hasRenewedWithin(candidate, ANSWER_WITHIN_MS, nowMs) && !isAnswerAwaited(candidate, nowMs)
  const unasked = candidates.filter(
    (candidate) =>
      !isAlive(candidate) && !isAnswerAwaited(candidate, nowMs) && !isSilent(candidate, nowMs),
  )
  if (unasked.length > 0)
    return { kind: 'ping', names: unasked.map(({ metadata }) => metadata?.name ?? '') }
  if (candidates.some((candidate) => isAnswerAwaited(candidate, nowMs))) return { kind: 'wait' }
  const voters = candidates.filter(isAlive)
  if (voters.length === 0) return { kind: 'rest' }
  const choice = chosenStrategy(voters)
  if ('conflict' in choice) return { kind: 'conflict', message: choice.conflict }
  const { strategy } = choice
  if (strategy !== OLDEST_EMULATION_VERSION) return { kind: 'elect', elected: { strategy } }
  const holder = bestCandidate(voters)?.metadata?.name
  return holder === undefined ? { kind: 'rest' } : { kind: 'elect', elected: { strategy, holder } }
}

function isLeaseExpired(spec: LeaseSpec, nowMs: number): boolean {
  const { renewTime = '', leaseDurationSeconds = NaN } = spec
  return !(Date.parse(renewTime) + leaseDurationSeconds * 1000 >= nowMs)
}

/** The lease as the outcome wants it: given away when it is free, with a wish to its holder while it is held. */
export function electedSpec(
  current: LeaseSpec | undefined,
  { strategy, holder }: Elected,
  nowMs: number,
): LeaseSpec {
  const fresh = {
    leaseDurationSeconds: FIRST_DURATION_SECONDS,
    renewTime: formatMicroTime(nowMs),
    strategy,
  }
  if (current === undefined)
    return { ...fresh, ...(holder === undefined ? {} : { holderIdentity: holder }) }
  const { holderIdentity = '', preferredHolder: _wish, acquireTime: _taken, ...kept } = current
  if (holder === undefined || holder === holderIdentity) return { ...current, strategy }
  const isFree = holderIdentity === '' || isLeaseExpired(current, nowMs)
  return isFree
    ? { ...kept, ...fresh, holderIdentity: holder }
    : { ...current, strategy, preferredHolder: holder }
}

export function isSameSpec(a: LeaseSpec | undefined, b: LeaseSpec): boolean {
  return a !== undefined && semanticEqual(a, b)
}
