/**
 * validatingadmissionpolicy-status-controller: checks the types of the expressions of policies and says in their status what
 * is wrong. Contract: docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { ValidatingAdmissionPolicy } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { reconcile } from './reconcile.ts'
import { policyWatch } from './watches.ts'

export const validatingAdmissionPolicyStatusController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: 'validatingadmissionpolicy-status-controller',
    aliases: [],
    enabledByDefault: true,
    serviceAccount: SERVICE_ACCOUNT,
    build: (context) => runKeyedController(policyStatusLogic(context), context),
  }

export function policyStatusLogic({
  configuration,
  informers,
  mapper,
}: Pick<
  ControllerContext<ControllersConfiguration>,
  'configuration' | 'informers' | 'mapper'
>): KeyedController<ValidatingAdmissionPolicy> {
  const { lister } = informers.informer(resources.validatingadmissionpolicies)
  return {
    queueName: QUEUE_NAME,
    workers: configuration.validatingAdmissionPolicyStatus.concurrentPolicySyncs,
    watches: [policyWatch],
    mapper,
    observe: (key) => lister.getByKey(key),
    reconcile,
  }
}
