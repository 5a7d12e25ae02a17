/**
 * Workloads and PodGroups of Jobs whose pods are scheduled all or none: what they are, and where they are found.
 * Contract: docs/behaviour/controllers/job-controller.md, Gang scheduling.
 */
import {
  POD_GROUPS,
  fnv1a,
  keyOf,
  newControllerRef,
  resources,
  resourcesOnRequest,
  safeEncode,
} from '@gyropilot/api'
import type { Job, PodGroup, PodGroupTemplate, Workload } from '@gyropilot/api'
import type { IndexFunction, Lister } from '@gyropilot/runtime'

export const WORKLOADS = resourcesOnRequest.workloads

export const FEATURE_GATE = 'WorkloadWithJob'
export const WORKLOADS_BY_JOB = 'workloadsByJob'
export const POD_GROUPS_BY_WORKLOAD = 'podGroupsByWorkload'

/** By the Job that the spec names; owner references do not matter. */
export const workloadsByJob: IndexFunction<Workload> = ({ metadata, spec }) => {
  const { apiGroup, kind, name } = spec?.controllerRef ?? {}
  if (apiGroup !== resources.jobs.group || kind !== resources.jobs.kind) return []
  return [`${metadata?.namespace}/${name}`]
}

export const podGroupsByWorkload: IndexFunction<PodGroup> = ({ metadata, spec }) => {
  const name = spec?.podGroupTemplateRef?.workload?.workloadName
  return name === undefined ? [] : [`${metadata?.namespace}/${name}`]
}

export interface GangListers {
  readonly workloads: Lister<Workload>
  readonly podGroups: Lister<PodGroup>
}

/** Of one Job: the Workloads that name it. */
export interface ObservedGang {
  readonly workloads: readonly Workload[]
  podGroupsOf(workload: Workload): readonly PodGroup[]
}

export function observeGang(key: string, { workloads, podGroups }: GangListers): ObservedGang {
  return {
    workloads: workloads.byIndex(WORKLOADS_BY_JOB, key),
    podGroupsOf: (workload) => podGroups.byIndex(POD_GROUPS_BY_WORKLOAD, keyOf(workload)),
  }
}

const encoder = new TextEncoder()
const hashOf = (text: string): string => safeEncode(String(fnv1a(encoder.encode(text))))

/** All pods of the Job, or none of them. */
export function workloadFor(job: Job): Workload {
  const { name = '', namespace, uid } = job.metadata ?? {}
  const minCount = job.spec?.parallelism ?? 0
  return {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind: WORKLOADS.kind,
    metadata: {
      // The hash is over the uid as Go prints a value with its type.
      name: `${name}-${hashOf(`(types.UID)${uid}`)}`,
      namespace,
      ownerReferences: [newControllerRef(job, resources.jobs)],
    },
    spec: {
      controllerRef: { apiGroup: resources.jobs.group, kind: resources.jobs.kind, name },
      podGroupTemplates: [{ name: `${name}-pgt-0`, schedulingPolicy: { gang: { minCount } } }],
    },
  }
}

export function podGroupFor(job: Job, workload: Workload, template: PodGroupTemplate): PodGroup {
  const { name: workloadName = '', uid = '' } = workload.metadata ?? {}
  const { name, ...rest } = template
  const namespace = job.metadata?.namespace
  return {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind: POD_GROUPS.kind,
    metadata: {
      name: `${workloadName}-${name}-${hashOf(workloadName + name)}`,
      namespace,
      ownerReferences: [
        newControllerRef(job, resources.jobs),
        { apiVersion: 'scheduling.k8s.io/v1alpha2', kind: WORKLOADS.kind, name: workloadName, uid },
      ],
    },
    spec: {
      podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName: name } },
      ...rest,
    },
  }
}
