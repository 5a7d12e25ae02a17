/**
 * taint-eviction-controller: deletes pods from nodes whose NoExecute taints they do not tolerate, or no longer.
 * Contract: docs/behaviour/controllers/taint-eviction-controller.md.
 */
import type { ControllerDescriptor } from '@gyropilot/runtime'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { SERVICE_ACCOUNT } from './config.ts'
import { TaintEviction } from './taint-eviction.ts'

export const taintEvictionController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'taint-eviction-controller',
  aliases: [],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build(context) {
    const gate = 'TaintTolerationComparisonOperators'
    const comparisonOperators = featureEnabled(context.configuration, gate, false)
    return new TaintEviction(context, { comparisonOperators })
  },
}
