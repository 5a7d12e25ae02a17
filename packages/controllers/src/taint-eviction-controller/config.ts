/**
 * Names and numbers of the taint eviction controller.
 * Contract: docs/behaviour/controllers/taint-eviction-controller.md.
 */
/** It shares the account of node-lifecycle-controller. */
export const SERVICE_ACCOUNT = 'node-controller'
export const NODE_QUEUE = 'noexec_taint_node'
export const POD_QUEUE = 'noexec_taint_pod'

export const DELETE_ATTEMPTS = 5
export const ATTEMPT_PAUSE_MS = 10

export const CONDITION_REASON = 'DeletionByTaintManager'
export const CONDITION_MESSAGE = 'Taint manager: deleting due to NoExecute taint'
export const EVENT_REASON = 'TaintManagerEviction'
