/**
 * The ConfigMaps in kube-system that a server writes for others: whom extension servers may believe, and since when the use of tokens
 * is recorded. Contract: docs/behaviour/api-server/subresources-and-admission.md, "What the server itself keeps".
 */
import { semanticEqual } from '@gyropilot/api'
import { every, formatTime } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { loggingFailures } from '../storage/own-writes.ts'
import type { Store } from '../storage/store.ts'
import { extensionAuthentication } from './extension-authentication.ts'
import type { Authorities } from './extension-authentication.ts'
import type { KeptKind, Keeper } from './keeper.ts'

interface ConfigMapsOptions extends Authorities {
  readonly keeper: Keeper
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
}

const CONFIG_MAPS: KeptKind = { collection: 'configmaps', apiVersion: 'v1', kind: 'ConfigMap' }
const NAMESPACE = 'kube-system'
const AUTHENTICATION = { name: 'extension-apiserver-authentication', namespace: NAMESPACE }
const TRACKING = {
  name: 'kube-apiserver-legacy-service-account-token-tracking',
  namespace: NAMESPACE,
}
const PERIOD_MS = 60_000
/** Whoever deletes it again and again would put off for ever what is done some time after its date. */
const BETWEEN_CREATIONS_MS = 30 * 60_000

/** Until stopped. */
export function keepConfigMaps(options: ConfigMapsOptions): { stop(): void } {
  const { clock, store, logger } = options
  const keepTracking = tokenTracking(options)
  let isStopped = false
  const keep = loggingFailures(logger, 'Keeping the ConfigMaps of the server failed', () => {
    keepAuthentication(options)
    keepTracking()
  })
  keep()
  // What is deleted is back at once, what is changed within a minute.
  const watch = store.watch('configmaps', `${NAMESPACE}/`, store.revision, ({ type, key }) => {
    const isDeleted = type === 'deleted' && key === `${NAMESPACE}/${AUTHENTICATION.name}`
    const isTracking = key === `${NAMESPACE}/${TRACKING.name}`
    // Never inside another write.
    if (isDeleted || isTracking)
      queueMicrotask(() => {
        if (!isStopped) keep()
      })
  })
  const timer = every(clock, PERIOD_MS, keep)
  return {
    stop() {
      isStopped = true
      if (watch !== 'expired') watch.stop()
      timer.cancel()
    },
  }
}

/** Other servers may have authorities and names of their own there: they stay, all else beside them goes. */
function keepAuthentication({ keeper, clock, ...authorities }: ConfigMapsOptions): void {
  const stored = keeper.get(CONFIG_MAPS, { metadata: AUTHENTICATION })
  const data = extensionAuthentication(stored?.['data'] ?? {}, authorities, clock.nowMs())
  if (stored === undefined) keeper.create(CONFIG_MAPS, { metadata: AUTHENTICATION, data })
  else if (!semanticEqual(stored['data'] ?? {}, data))
    keeper.replace(CONFIG_MAPS, { ...stored, data })
}

/** Answers what looks whether it is there and has a date. */
function tokenTracking({ keeper, clock }: ConfigMapsOptions): () => void {
  let createdAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const stored = keeper.get(CONFIG_MAPS, { metadata: TRACKING })
    const since = formatTime(clock.nowMs()).slice(0, 10)
    if (stored !== undefined) {
      if (!isDate(stored['data']?.since)) keeper.replace(CONFIG_MAPS, withSince(stored, since))
      return
    }
    const nowMs = clock.monotonicMs()
    if (nowMs < createdAtMs + BETWEEN_CREATIONS_MS) return
    createdAtMs = nowMs
    keeper.create(CONFIG_MAPS, withSince({ metadata: TRACKING }, since))
  }
}

function withSince(configMap: Stored, since: string): Stored {
  return { ...configMap, data: { ...configMap['data'], since } }
}

function isDate(text: unknown): boolean {
  if (typeof text !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const timeMs = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(timeMs) && formatTime(timeMs).startsWith(text)
}
