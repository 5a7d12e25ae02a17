/** Policies in CEL as admission plug-ins. Their code is loaded with the first binding that exists. */
import type { AdmissionPlugin } from '../../contracts.ts'
import { ConfigurationIndex } from '../configuration-index.ts'
import { isExempt, isReview } from '../matching.ts'
import type { AdmissionWorld } from '../world.ts'

const GROUP = 'admissionregistration.k8s.io'

export function validatingAdmissionPolicies(world: AdmissionWorld): AdmissionPlugin {
  const policies = new ConfigurationIndex(world.store, `validatingadmissionpolicies.${GROUP}`)
  const bindings = new ConfigurationIndex(world.store, `validatingadmissionpolicybindings.${GROUP}`)
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (request) =>
      bindings.all().length > 0 &&
      policies.all().length > 0 &&
      !isExempt(request) &&
      !isReview(request),
    async validate(request) {
      const { validateByPolicies } = await import('./validating.ts')
      await validateByPolicies(world, request, policies.all(), bindings.all())
    },
  }
}

export function mutatingAdmissionPolicies(world: AdmissionWorld): AdmissionPlugin {
  const policies = new ConfigurationIndex(world.store, `mutatingadmissionpolicies.${GROUP}`)
  const bindings = new ConfigurationIndex(world.store, `mutatingadmissionpolicybindings.${GROUP}`)
  return {
    name: 'MutatingAdmissionPolicy',
    handles: (request) =>
      bindings.all().length > 0 &&
      policies.all().length > 0 &&
      request.object !== undefined &&
      !isExempt(request) &&
      !isReview(request),
    async mutate(request) {
      const { mutateByPolicies } = await import('./mutating.ts')
      return mutateByPolicies(world, request, policies.all(), bindings.all())
    },
  }
}
