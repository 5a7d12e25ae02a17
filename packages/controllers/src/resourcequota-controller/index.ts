/**
 * resourcequota-controller: keeps ResourceQuota.status in step with what is really used.
 * Contract: docs/behaviour/controllers/resourcequota-controller.md.
 */
import type { ControllerDescriptor } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { SERVICE_ACCOUNT } from './config.ts'
import { ResourceQuotaController } from './quota-controller.ts'

export const resourceQuotaController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'resourcequota-controller',
  aliases: ['resourcequota'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => new ResourceQuotaController(context),
}
