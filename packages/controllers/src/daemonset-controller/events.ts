/**
 * Names that users see.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Events, Concurrency.
 */
import type { Pod } from '@gyropilot/api'

export const EVENT_COMPONENT = 'daemonset-controller'
export const QUEUE_NAME = 'daemonset'
export const NODE_QUEUE_NAME = 'daemonset-node-updates'
export const SERVICE_ACCOUNT = 'daemon-set-controller'

export const FAILED_POD = 'FailedDaemonPod'
export const SUCCEEDED_POD = 'SucceededDaemonPod'
export const SELECTING_ALL = 'SelectingAll'
export const SELECTING_ALL_TEXT =
  'This daemon set is selecting all pods. A non-empty selector is required.'

export function failedPodText({ metadata }: Pod, node: string): string {
  return `Found failed daemon pod ${metadata?.namespace}/${metadata?.name} on node ${node}, will try to kill it`
}

export function succeededPodText({ metadata }: Pod, node: string): string {
  return `Found succeeded daemon pod ${metadata?.namespace}/${metadata?.name} on node ${node}, will try to delete it`
}
