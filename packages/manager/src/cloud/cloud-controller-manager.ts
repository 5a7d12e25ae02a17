/** The cloud-controller-manager. Contract: docs/behaviour/controllers/cloud-controller-manager.md. */
import type { CloudProvider, ProviderRegistry } from '@gyropilot/cloud-provider'
import { cloudProviderErrors } from '@gyropilot/cloud-provider'
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import { errorText } from '@gyropilot/foundation'
import type { AppWorld } from '../app-world.ts'
import { cloudComponentConfiguration } from './cloud-component-configuration.ts'
import { cloudDescriptors, knownCloudControllers } from './cloud-controller-names.ts'
import { nodeIpam } from '../options/controllers-configuration.ts'
import { cloudProblems, servesWebhooks } from './cloud-options.ts'
import { managerErrors } from '../errors.ts'
import { cloudFlagGroups } from '../flags/cloud-controller-manager-flags.ts'
import type { Options } from '../options/options.ts'
import { initialize } from './initialize-provider.ts'
import type { Prepared, Program } from '../program.ts'

const INTRODUCTION = `cloud-controller-manager runs the control loops of Kubernetes that a cloud is asked in: nodes get what only their cloud
knows and go when their machine is gone, Services of type LoadBalancer get an address, Pods of different nodes a way to each
other. Which cloud, --cloud-provider says. Nodes wait for it when their kubelets run with --cloud-provider=external: they carry
the taint node.cloudprovider.kubernetes.io/uninitialized until the cloud has answered for them. This one is Gyropilot.`

/** The manager of the clouds that it is given. */
export function cloudControllerManager(providers: ProviderRegistry): Program {
  const known =
    providers.names.length === 0
      ? 'Cloud providers of this program: none.'
      : `Cloud providers of this program: ${providers.names.join(', ')}.`
  return {
    name: 'cloud-controller-manager',
    introduction: `${INTRODUCTION}\n\n${known}`,
    flagGroups: cloudFlagGroups,
    knownControllers: knownCloudControllers,
    descriptors: cloudDescriptors,
    configurationGroup: 'cloudcontrollermanager.config.k8s.io',
    servesProbes: false,
    startsOneByOne: true,
    servesWebhooks,
    problemsOf: cloudProblems,
    componentConfiguration: cloudComponentConfiguration,
    prepare: async (options, world) =>
      preparedWith(await providerOf(providers, options, world), options, world),
  }
}

/** Rejects where the provider cannot be made, or knows no cluster. */
async function providerOf(
  providers: ProviderRegistry,
  options: Options,
  { host, clock, random, logger }: AppWorld,
): Promise<CloudProvider> {
  const name = options.text('cloud-provider')
  const provider = await providers.create(name, {
    config: await configText(options.text('cloud-config'), host),
    clock,
    random: random.fork(`cloud-provider/${name}`),
    logger: logger.named('cloud-provider'),
  })
  if (provider.hasClusterId) return provider
  if (!options.flag('allow-untagged-cloud')) {
    throw cloudProviderErrors.make(
      'CLOUD_CLUSTER_ID_MISSING',
      `no ClusterID found for cloud provider ${JSON.stringify(name)}: a cluster ID is required for it to function properly; override this check with --allow-untagged-cloud`,
    )
  }
  logger.info(
    'Warning: detected a cluster without a ClusterID. A ClusterID will be required in the future. Please tag your cluster to avoid any future issues',
  )
  return provider
}

async function configText(path: string, host: AppWorld['host']): Promise<string | undefined> {
  if (path === '') return undefined
  try {
    return await host.readTextFile(path)
  } catch (error) {
    throw managerErrors.make(
      'OPTIONS_INVALID',
      `could not open cloud provider configuration ${path}: ${errorText(error)}`,
      { cause: error },
    )
  }
}

function preparedWith(provider: CloudProvider, options: Options, world: AppWorld): Prepared {
  let isInitialized = false
  return {
    configuration: async () => cloudConfiguration(options, provider),
    async beforeControllers(surroundings) {
      // A second lock is another run of controllers, and not another life of the provider.
      if (isInitialized) return
      isInitialized = true
      await initialize(provider, surroundings, world)
    },
  }
}

function cloudConfiguration(options: Options, provider: CloudProvider): ControllersConfiguration {
  return {
    ...defaultControllersConfiguration,
    featureGates: options.gateValues(),
    cloud: { provider, clusterName: options.text('cluster-name') },
    cloudNode: {
      concurrentNodeSyncs: options.number('concurrent-node-syncs'),
      concurrentNodeStatusUpdates: options.number('concurrent-node-status-updates'),
      nodeStatusUpdateFrequencyMs: options.number('node-status-update-frequency'),
    },
    cloudNodeLifecycle: { nodeMonitorPeriodMs: options.number('node-monitor-period') },
    nodeIpam: nodeIpam(options),
    nodeRoute: {
      configureCloudRoutes: options.flag('configure-cloud-routes'),
      clusterCidr: options.text('cluster-cidr'),
      routeReconciliationPeriodMs: options.number('route-reconciliation-period'),
    },
    serviceLb: { concurrentServiceSyncs: options.number('concurrent-service-syncs') },
  }
}
