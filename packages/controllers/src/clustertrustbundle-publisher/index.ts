/**
 * kube-apiserver-serving-clustertrustbundle-publisher-controller: tells pods whom to trust when they speak to the API server.
 * Contract: docs/behaviour/controllers/clustertrustbundle-publisher.md.
 */
import type { ClusterTrustBundle } from '@gyropilot/api'
import { certificatesOfPem } from '@gyropilot/foundation/x509'
import { SharedInformerFactory, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  Reconcile,
  Verdict,
  Watch,
} from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { CLIENT_IDENTITY, FEATURE_GATE, KEY, QUEUE_NAME, SIGNER_NAME } from './config.ts'
import type { BundleType } from './config.ts'
import { syncMetrics } from '../publisher-support/sync-metrics.ts'
import { SYNC_METRICS } from './metrics.ts'
import { reconcile } from './reconcile.ts'
import { servedType } from './served-type.ts'

type Context = ControllerContext<ControllersConfiguration>

export const clusterTrustBundlePublisherController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: 'kube-apiserver-serving-clustertrustbundle-publisher-controller',
    aliases: [],
    enabledByDefault: true,
    featureGates: [FEATURE_GATE],
    serviceAccount: CLIENT_IDENTITY,
    async build(context) {
      const { client, clock, configuration, logger, random } = context
      const { caBundle } = configuration.rootCaPublisher
      // Off unless somebody turned it on.
      if (configuration.featureGates[FEATURE_GATE] !== true || caBundle === '') return undefined
      if (certificatesOfPem(caBundle).length === 0)
        throw new Error('the root CA bundle holds no certificate')
      const type = await servedType(client)
      if (type === undefined) {
        logger.info('The server does not serve ClusterTrustBundles')
        return undefined
      }
      // Of this signer only: those of others are none of its business.
      const informers = new SharedInformerFactory({
        client,
        clock,
        random: random.fork('informers'),
        logger,
        watchList: featureEnabled(configuration, 'WatchListClient'),
        firstList: 'latest',
        fieldSelector: `spec.signerName=${SIGNER_NAME}`,
      })
      const own = { ...context, informers }
      const loop = runKeyedController(clusterTrustBundleLogic(type, own), own)
      return {
        async run(signal) {
          informers.start(signal)
          loop.enqueue(KEY)
          await loop.run(signal)
          await informers.shutdown()
        },
      }
    },
  }

export function clusterTrustBundleLogic(
  type: BundleType,
  {
    informers,
    configuration,
    clock,
    metrics: registry,
  }: Pick<Context, 'informers' | 'configuration' | 'clock' | 'metrics'>,
): KeyedController<readonly ClusterTrustBundle[]> {
  const { caBundle } = configuration.rootCaPublisher
  const { lister } = informers.informer(type)
  const metrics = syncMetrics(registry, SYNC_METRICS)
  function* measured(bundles: readonly ClusterTrustBundle[]): Reconcile<Verdict> {
    const startedAtMs = clock.monotonicMs()
    const verdict = yield* reconcile(type, bundles, caBundle)
    metrics.synced(clock.monotonicMs() - startedAtMs, verdict.error)
    return verdict
  }
  return {
    queueName: QUEUE_NAME,
    workers: 1,
    watches: [watchOf(type)],
    observe: () => lister.list(),
    reconcile: measured,
  }
}

function watchOf(type: BundleType): Watch<ClusterTrustBundle> {
  const always = (): readonly string[] => [KEY]
  return { type, onAdd: always, onUpdate: always, onDelete: always }
}
