/** Says in each FlowSchema whether the priority level that it names exists, as the server's flow control does. */
import { formatTime } from '@gyropilot/foundation'
import type { Clock, Logger, Timer } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import type { Store, StoreWatch } from '../storage/store.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const FLOW_SCHEMAS = `flowschemas.${GROUP}`
const PRIORITY_LEVELS = `prioritylevelconfigurations.${GROUP}`
const MANAGER = 'api-priority-and-fairness-config-consumer-v1'
const RETRY_MS = 10_000
const OWNED = {
  'f:status': {
    'f:conditions': {
      'k:{"type":"Dangling"}': {
        '.': {},
        'f:lastTransitionTime': {},
        'f:message': {},
        'f:reason': {},
        'f:status': {},
        'f:type': {},
      },
    },
  },
}

/**
 * Follows both kinds until stopped. Writes come right after what caused them, never inside another write, and before any
 * later request is looked at: who asks again sees the condition. What cannot be written is tried again.
 */
export function keepFlowSchemaStatus(store: Store, clock: Clock, logger: Logger): { stop(): void } {
  let isScheduled = false
  let isStopped = false
  let retry: Timer | undefined
  const judge = (): void => {
    retry?.cancel()
    try {
      judgeAll(store, clock.nowMs())
    } catch (error) {
      logger.error(error, 'The status of FlowSchemas could not be written')
      retry = clock.after(RETRY_MS, schedule)
    }
  }
  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    queueMicrotask(() => {
      isScheduled = false
      if (!isStopped) judge()
    })
  }
  const watches = [FLOW_SCHEMAS, PRIORITY_LEVELS]
    .map((collection) => store.watch(collection, '', store.revision, schedule))
    .filter((watch): watch is StoreWatch => watch !== 'expired')
  schedule()
  return {
    stop() {
      isStopped = true
      retry?.cancel()
      for (const watch of watches) watch.stop()
    },
  }
}

function judgeAll(store: Store, nowMs: number): void {
  const snapshot = store.list(FLOW_SCHEMAS, '')
  if (snapshot === 'expired') return
  for (const { key, object } of snapshot.entries) {
    const judged = withDangling(object, exists(store, object), nowMs)
    if (judged === undefined) continue
    store.commit({ collection: FLOW_SCHEMAS, key }, (revision) => ({
      ...judged,
      metadata: { ...judged['metadata'], resourceVersion: String(revision) },
    }))
  }
}

function exists(store: Store, { spec }: Stored): boolean {
  return (
    store.get({ collection: PRIORITY_LEVELS, key: spec.priorityLevelConfiguration.name }) !==
    undefined
  )
}

/** Undefined when the condition says so already. */
function withDangling(schema: Stored, isFound: boolean, nowMs: number): Stored | undefined {
  const conditions: Stored[] = schema['status']?.conditions ?? []
  const known = conditions.find(({ type }) => type === 'Dangling')
  const name = JSON.stringify(schema['spec'].priorityLevelConfiguration.name)
  const tail = isFound ? 'it exists' : 'there is no such object'
  const connection = isFound ? 'and' : 'but'
  const status = isFound ? 'False' : 'True'
  const message = `This FlowSchema references the PriorityLevelConfiguration object named ${name} ${connection} ${tail}`
  if (known?.['status'] === status && known['message'] === message) return undefined
  const time = formatTime(nowMs)
  const condition = {
    type: 'Dangling',
    status,
    lastTransitionTime: known?.['status'] === status ? known['lastTransitionTime'] : time,
    reason: isFound ? 'Found' : 'NotFound',
    message,
  }
  const entry = {
    manager: MANAGER,
    operation: 'Apply',
    apiVersion: `${GROUP}/v1`,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: OWNED,
    subresource: 'status',
  }
  const others = (schema['metadata'].managedFields ?? []).filter(
    ({ manager }: Stored) => manager !== MANAGER,
  )
  return {
    ...schema,
    metadata: { ...schema['metadata'], managedFields: [entry, ...others] },
    status: {
      ...schema['status'],
      conditions: [...conditions.filter((other) => other !== known), condition],
    },
  }
}
