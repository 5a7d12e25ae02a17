/** Webhooks as admission plug-ins. Their code is loaded with the first configuration. */
import type { AdmissionPlugin } from '../../contracts.ts'
import { ConfigurationIndex } from '../configuration-index.ts'
import { isExempt } from '../matching.ts'
import type { AdmissionWorld } from '../world.ts'

const GROUP = 'admissionregistration.k8s.io'

export function mutatingWebhooks(world: AdmissionWorld): AdmissionPlugin {
  const configurations = new ConfigurationIndex(
    world.store,
    `mutatingwebhookconfigurations.${GROUP}`,
  )
  return {
    name: 'MutatingAdmissionWebhook',
    handles: (request) => configurations.all().length > 0 && !isExempt(request),
    async mutate(request) {
      const { mutateByWebhooks } = await import('./dispatch.ts')
      return mutateByWebhooks(world, request, configurations.all())
    },
  }
}

export function validatingWebhooks(world: AdmissionWorld): AdmissionPlugin {
  const configurations = new ConfigurationIndex(
    world.store,
    `validatingwebhookconfigurations.${GROUP}`,
  )
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (request) => configurations.all().length > 0 && !isExempt(request),
    async validate(request) {
      const { validateByWebhooks } = await import('./dispatch.ts')
      await validateByWebhooks(world, request, configurations.all())
    },
  }
}
