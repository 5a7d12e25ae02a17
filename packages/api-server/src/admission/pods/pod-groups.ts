/** PodGroups, of which pods and Workloads are to be there. Contract: docs/behaviour/api-server/subresources-and-admission.md. */
import type { PodGroupTemplate } from '@gyropilot/api'
import type { AdmissionPlugin, AdmissionRequest } from '../../contracts.ts'
import { isFor, read, refusal } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'

const GROUP = 'scheduling.k8s.io'
const FINALIZER = 'scheduling.k8s.io/podgroup-protection'

const isNewGroup = (request: AdmissionRequest): boolean =>
  request.operation === 'CREATE' && isFor(request, GROUP, 'podgroups')

/** A group stays while pods of it run: a controller takes the finalizer away. */
export function podGroupProtection(): AdmissionPlugin {
  return {
    name: 'PodGroupProtection',
    handles: isNewGroup,
    mutate({ object }) {
      const finalizers: string[] = object!['metadata'].finalizers ?? []
      if (!finalizers.includes(FINALIZER))
        object!['metadata'].finalizers = [...finalizers, FINALIZER]
    },
  }
}

/** A group is made from a template that is there. */
export function podGroupWorkloadExists(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'PodGroupWorkloadExists',
    handles: isNewGroup,
    validate(request) {
      const wanted = request.object!['spec']?.podGroupTemplateRef?.workload
      if (!wanted) return
      const { workloadName, podGroupTemplateName } = wanted
      const key = `${request.namespace}/${workloadName}`
      const workload = read(world, `workloads.${GROUP}`, key)
      if (workload === undefined)
        throw refusal(request, `PodGroup rejected: Workload "${workloadName}" not found`)
      const templates: readonly PodGroupTemplate[] = workload['spec'].podGroupTemplates ?? []
      if (!templates.some(({ name }) => name === podGroupTemplateName))
        throw refusal(
          request,
          `PodGroup rejected: PodGroupTemplate "${podGroupTemplateName}" not found in Workload "${workloadName}"`,
        )
    },
  }
}
