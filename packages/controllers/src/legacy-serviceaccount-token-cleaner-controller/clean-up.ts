/**
 * One run. Step numbers are those of docs/behaviour/controllers/legacy-serviceaccount-token-cleaner-controller.md.
 */
import { resources, secretNamesOf } from '@gyropilot/api'
import type { Pod, Secret, ServiceAccount } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import { currentTimeMs, getLive, patch, remove, write } from '@gyropilot/runtime'
import type { Lister, Reconcile } from '@gyropilot/runtime'
import { DAY_MS } from './config.ts'
import { dateMs, dateOf } from './dates.ts'
import { INVALID_SINCE, fateOf } from './token-fate.ts'
import type { FateFacts } from './token-fate.ts'

const TRACKING = {
  namespace: 'kube-system',
  name: 'kube-apiserver-legacy-service-account-token-tracking',
}

interface CleanUpSources {
  readonly accounts: Lister<ServiceAccount>
  readonly secrets: Lister<Secret>
  readonly pods: Lister<Pod>
  readonly cleanUpPeriodMs: number
  /** Hears of a write that did not come about; the next run tries again. */
  onFailure(secret: Secret, error: unknown): void
}

export function* cleanUp(sources: CleanUpSources): Reconcile<void> {
  const nowMs = yield* currentTimeMs()
  // 1.
  const tracking = yield* getLive(resources.configmaps, TRACKING.namespace, TRACKING.name)
  const sinceMs = tracking.ok ? dateMs(tracking.object.data?.['since'] ?? '') : undefined
  // 2. The day on which tracking began may have had uses before it.
  if (sinceMs === undefined || nowMs < sinceMs + DAY_MS + sources.cleanUpPeriodMs) return
  // 3.
  const facts = factsOf(sources, nowMs - sources.cleanUpPeriodMs)
  // 4.
  for (const secret of sources.secrets.list()) {
    const fate = fateOf(secret, facts)
    if (fate === 'keep') continue
    const failure = yield* fate === 'delete' ? deleteToken(secret) : invalidate(secret, nowMs)
    if (failure !== undefined) sources.onFailure(secret, failure)
  }
}

/** Pods are looked through once for each namespace that has a candidate. */
function factsOf({ accounts, pods }: CleanUpSources, keepMs: number): FateFacts {
  const mounted = new Map<string, ReadonlySet<string>>()
  return {
    keepMs,
    accountNamed: (namespace, name) => accounts.get(namespace, name),
    isMounted(namespace, name) {
      let names = mounted.get(namespace)
      if (names === undefined) {
        names = new Set(pods.list(namespace).flatMap(secretNamesOf))
        mounted.set(namespace, names)
      }
      return names.has(name)
    },
  }
}

/** 5. The uid, so that a Secret made anew under the name is not marked. Answers the error. */
function* invalidate(secret: Secret, nowMs: number): Reconcile<unknown> {
  const { name, namespace, uid } = secret.metadata ?? {}
  const labels = { [INVALID_SINCE]: dateOf(nowMs) }
  const value = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, uid, labels } }
  const outcome = yield* write(patch(resources.secrets, secret, { type: 'merge', value }))
  return outcome.ok ? undefined : outcome.error
}

/** 7. A Secret that has changed since, by a use for one, stays. */
function* deleteToken(secret: Secret): Reconcile<unknown> {
  const resourceVersion = secret.metadata?.resourceVersion
  const outcome = yield* write(
    remove(resources.secrets, secret, { preconditions: { resourceVersion } }),
  )
  if (outcome.ok || isNotFound(outcome.error) || isConflict(outcome.error)) return undefined
  return outcome.error
}
