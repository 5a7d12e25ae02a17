/** What a random user does with Jobs. */
import { controllerOf, resources } from '@gyropilot/api'
import type { Job, JobSpec } from '@gyropilot/api'
import { job } from '../scenarios/objects.ts'
import { APPS, deletion, hasRoom, merge, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST_JOBS = 8
const EXIT_CODE = 'sim.kubelet/exit-code'

/** Failures are few and limits low: what waits for its back-off, from when the clock of a node says that a pod ended, would not come to rest. */
function specOf(hand: Hand, fails: boolean): Partial<JobSpec> {
  const parallelism = hand.number(1, 4)
  const completions = hand.number(1, 5)
  const kinds: readonly Partial<JobSpec>[] = [
    { completions },
    { completions, podReplacementPolicy: 'Failed' },
    { completions, completionMode: 'Indexed' },
    { completions, completionMode: 'Indexed', backoffLimitPerIndex: hand.number(0, 2) },
    {
      completions,
      completionMode: 'Indexed',
      successPolicy: { rules: [{ succeededCount: hand.number(1, completions + 1) }] },
    },
    {
      completions,
      completionMode: 'Indexed',
      backoffLimitPerIndex: 0,
      maxFailedIndexes: hand.number(0, completions),
    },
    { completions, podFailurePolicy: { rules: [onFailure(hand)] } },
    {},
  ]
  return {
    ...hand.pick(kinds),
    parallelism,
    ...(hand.random.next() < 0.7 || fails ? { backoffLimit: hand.number(0, 3) } : {}),
    ...(hand.random.next() < 0.2 ? { suspend: true } : {}),
    ...(hand.random.next() < 0.2 ? { activeDeadlineSeconds: hand.number(1, 60) } : {}),
    ...(hand.random.next() < 0.4 ? { ttlSecondsAfterFinished: hand.number(0, 60) } : {}),
  }
}

function onFailure({ pick }: Hand): NonNullable<JobSpec['podFailurePolicy']>['rules'][number] {
  const action = pick(['FailJob', 'Count', 'Ignore'] as const)!
  // Who ignores the ends that its own pods come to would never be over.
  if (action !== 'Ignore') return { action, onExitCodes: { operator: 'In', values: [1] } }
  return { action, onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }
}

function annotationsOf(hand: Hand): Record<string, string> {
  return {
    'sim.kubelet/run': `${hand.number(1, 20)}s`,
    ...(hand.random.next() < 0.3 ? { [EXIT_CODE]: '1' } : {}),
  }
}

/** One whose last pod ends while it is suspended is refused its end until it is resumed, and tried again and again. */
async function resumeStarted(hand: Hand): Promise<boolean> {
  const { objects } = hand.cluster
  const started = new Set(objects.all(resources.pods).map((pod) => controllerOf(pod)?.uid))
  const hasBegun = ({ metadata, status = {} }: Job): boolean =>
    started.has(metadata?.uid) || (status.failed ?? 0) + (status.succeeded ?? 0) > 0
  const suspended = objects
    .all(resources.jobs)
    .filter((found) => found.spec?.suspend === true && hasBegun(found))
  for (const each of suspended)
    await merge(hand, resources.jobs, each, { spec: { suspend: false } })
  return suspended.length > 0
}

export const jobOperations: readonly Operation[] = [
  {
    name: 'create a Job',
    weight: 4,
    async act(hand) {
      const { cluster } = hand
      if (!hasRoom(hand) || cluster.objects.all(resources.jobs).length >= MOST_JOBS) return false
      const annotations = annotationsOf(hand)
      const spec = specOf(hand, EXIT_CODE in annotations)
      const given = { namespace: somePlace(hand), annotations, spec }
      await cluster.create(job(`job-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'suspend or resume a Job',
    weight: 2,
    async act(hand) {
      const target = some(hand, resources.jobs)
      if (target === undefined) return false
      await merge(hand, resources.jobs, target, {
        spec: { suspend: target.spec?.suspend !== true },
      })
      return true
    },
  },
  { name: 'resume Jobs that have begun', weight: 0.2, tidies: true, act: resumeStarted },
  {
    name: 'scale a Job',
    weight: 2,
    async act(hand) {
      const target = some(hand, resources.jobs)
      if (target === undefined) return false
      const parallelism = hand.number(1, 5)
      const isElastic = target.spec?.completionMode === 'Indexed' && hand.random.next() < 0.5
      const change = isElastic ? { parallelism, completions: parallelism } : { parallelism }
      await merge(hand, resources.jobs, target, { spec: change })
      return true
    },
  },
  {
    name: 'change the TTL of a Job',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.jobs)
      if (target === undefined) return false
      const ttlSecondsAfterFinished = hand.pick([null, 0, 5, 60]) ?? null
      await merge(hand, resources.jobs, target, { spec: { ttlSecondsAfterFinished } })
      return true
    },
  },
  {
    name: 'change the limits of a Job',
    weight: 1.5,
    async act(hand) {
      const target = some(hand, resources.jobs)
      if (target === undefined) return false
      const spec = hand.pick([
        { backoffLimit: hand.number(0, 3) },
        { activeDeadlineSeconds: hand.number(1, 90) },
        { parallelism: 0 },
        { parallelism: hand.number(1, 5), activeDeadlineSeconds: null },
      ])!
      await merge(hand, resources.jobs, target, { spec })
      return true
    },
  },
  deletion('delete a Job', 2, resources.jobs),
]
