/**
 * Whatever happens to the ConfigMap or a token is a matter of the one key.
 * Contract: docs/behaviour/controllers/bootstrap-signer-controller.md, Watches and keys.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { ConfigMap, Secret } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { isTokenSecret } from '../bootstrap-token-support/bootstrap-token.ts'
import { CLUSTER_INFO, RESYNC_PERIOD_MS } from './config.ts'

const NOTHING: readonly string[] = []
const THE_KEY: readonly string[] = [CLUSTER_INFO]

export const configMapWatch: Watch<ConfigMap> = {
  type: resources.configmaps,
  resyncPeriodMs: RESYNC_PERIOD_MS,
  onAdd: (configMap) => (keyOf(configMap) === CLUSTER_INFO ? THE_KEY : NOTHING),
  onUpdate: (_, current) => (keyOf(current) === CLUSTER_INFO ? THE_KEY : NOTHING),
}

export const secretWatch: Watch<Secret> = {
  type: resources.secrets,
  resyncPeriodMs: RESYNC_PERIOD_MS,
  onAdd: (secret) => (isTokenSecret(secret) ? THE_KEY : NOTHING),
  // One that was a token, or has become one, counts too.
  onUpdate: (previous, current) =>
    isTokenSecret(previous) || isTokenSecret(current) ? THE_KEY : NOTHING,
  onDelete: (secret) =>
    !(secret instanceof DeletedFinalStateUnknown) && isTokenSecret(secret) ? THE_KEY : NOTHING,
}
