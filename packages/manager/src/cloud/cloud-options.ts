/** What is wrong with flags of cloud-controller-manager together. Contract: docs/behaviour/controllers/cloud-controller-manager.md. Pure. */
import { knownCloudControllers } from './cloud-controller-names.ts'
import { unknownItems } from '../controller-names.ts'
import {
  allocatorProblems,
  commonProblems,
  portProblems,
  serviceRangeProblems,
} from '../options/options.ts'
import type { Options } from '../options/options.ts'
import { tlsProblem } from '../serving/tls-settings.ts'

/** Off by default. */
const WEBHOOK_GATE = 'CloudControllerManagerWebhook'

/** Without, no certificate is made for it either. */
export function servesWebhooks(options: Options): boolean {
  return options.isGateOn(WEBHOOK_GATE) && options.number('webhook-secure-port') !== 0
}

export function* cloudProblems(options: Options): Generator<string> {
  if (options.text('cloud-provider') === '') yield '--cloud-provider cannot be empty'
  yield* unknownItems(options.list('controllers'), knownCloudControllers)
  const syncs = options.number('concurrent-node-syncs')
  if (syncs < 1) yield `concurrent-node-syncs must be greater than 0, but got ${syncs}`
  const updates = options.number('concurrent-node-status-updates')
  if (updates < 0)
    yield `concurrent-node-status-updates must be greater than or equal to 0, but got ${updates}`
  if (options.text('cidr-allocator-type') === '') yield '--cidr-allocator-type cannot be empty'
  yield* allocatorProblems(options)
  yield* serviceRangeProblems(options)
  yield* portProblems(options, 'secure-port')
  yield* webhookProblems(options)
  yield* commonProblems(options)
}

function* webhookProblems(options: Options): Generator<string> {
  for (const item of options.list('webhooks')) {
    if (item !== '*') yield `${JSON.stringify(item)} is not in the list of known webhooks`
  }
  yield* portProblems(options, 'webhook-secure-port')
  const port = options.number('webhook-secure-port')
  if (port !== 0 && port === options.number('secure-port'))
    yield '--webhook-secure-port cannot be the same value as --secure-port'
  const tls = tlsProblem(options, 'webhook-')
  if (tls !== undefined) yield tls
  const files = [
    options.text('webhook-tls-cert-file'),
    options.text('webhook-tls-private-key-file'),
  ]
  if (files.filter(Boolean).length === 1) yield 'missing filename for serving cert'
}
