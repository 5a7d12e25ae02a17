/**
 * deployment-controller: rolls pods from one template to the next.
 * Contract: docs/behaviour/controllers/deployment-controller.md.
 */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import {
  POD_CONTROLLER_INDEX,
  REPLICA_SET_CONTROLLER_INDEX,
  addControllerIndex,
} from '../workload-support/ownership.ts'
import { MAX_RETRIES } from './config.ts'
import { EVENT_COMPONENT, QUEUE_NAME, SERVICE_ACCOUNT } from './events.ts'
import { observe } from './observe.ts'
import type { ObservedDeployment } from './observe.ts'
import { reconcile } from './reconcile.ts'
import { deploymentWatch, podWatch, replicaSetWatch } from './watches.ts'

export const deploymentController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'deployment-controller',
  aliases: ['deployment'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(deploymentLogic(context), context),
}

export function deploymentLogic(
  context: ControllerContext<ControllersConfiguration>,
): KeyedController<ObservedDeployment> {
  const { configuration, informers } = context
  const deployments = informers.informer(resources.deployments)
  const replicaSets = informers.informer(resources.replicasets)
  const pods = informers.informer(resources.pods)
  addControllerIndex(replicaSets, REPLICA_SET_CONTROLLER_INDEX)
  addControllerIndex(pods, POD_CONTROLLER_INDEX)
  const listers = {
    deployments: deployments.lister,
    replicaSets: replicaSets.lister,
    pods: pods.lister,
  }
  const terminatingReplicas = featureEnabled(
    configuration,
    'DeploymentReplicaSetTerminatingReplicas',
  )
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: configuration.deployment.concurrentDeploymentSyncs,
    maxRetries: MAX_RETRIES,
    watches: [deploymentWatch, replicaSetWatch(deployments.lister), podWatch(listers)],
    observe: (key) => observe(key, listers),
    reconcile: (observed) => reconcile(observed, { terminatingReplicas }),
    // Upstream has none here: a ReplicaSet that the cache does not show yet is then not counted, and a template that is
    // changed in that moment gets a second full set of pods (docs/reliability.md). A status written from a Deployment that is
    // older than the last one is refused, one try for nothing.
    staleGuard: {
      informers: [deployments, replicaSets],
      ownerUid: (observed) => observed.deployment.metadata?.uid ?? '',
    },
  }
}
