/**
 * root-ca-certificate-publisher-controller: the cluster's CA bundle in every namespace.
 * Contract: docs/behaviour/controllers/root-ca-certificate-publisher-controller.md.
 */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  Reconcile,
  Verdict,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { CLIENT_IDENTITY, QUEUE_NAME, WORKERS } from './config.ts'
import { syncMetrics } from '../publisher-support/sync-metrics.ts'
import { SYNC_METRICS } from './metrics.ts'
import { observe } from './observe.ts'
import type { ObservedBundle } from './observe.ts'
import { reconcile } from './reconcile.ts'
import { configMapWatch, namespaceWatch } from './watches.ts'

export const rootCaCertificatePublisherController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: 'root-ca-certificate-publisher-controller',
    aliases: ['root-ca-cert-publisher'],
    enabledByDefault: true,
    serviceAccount: CLIENT_IDENTITY,
    isWaitedFor: true,
    build: (context) => runKeyedController(rootCaPublisherLogic(context), context),
  }

function rootCaPublisherLogic(
  context: ControllerContext<ControllersConfiguration>,
): KeyedController<ObservedBundle> {
  const { clock, configuration, informers } = context
  const metrics = syncMetrics(context.metrics, SYNC_METRICS)
  const configMaps = informers.informer(resources.configmaps).lister
  function* measured(observed: ObservedBundle): Reconcile<Verdict> {
    const startedAtMs = clock.monotonicMs()
    const verdict = yield* reconcile(observed, configuration.rootCaPublisher.caBundle)
    metrics.synced(clock.monotonicMs() - startedAtMs, verdict.error)
    return verdict
  }
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [namespaceWatch, configMapWatch],
    observe: (namespace) => observe(namespace, configMaps),
    reconcile: measured,
  }
}
