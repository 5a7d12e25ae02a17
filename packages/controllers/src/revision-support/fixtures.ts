/** Smallest valid objects for tests of revisions. */
import { newControllerRef } from '@gyropilot/api'
import type {
  ControllerRevision,
  KubernetesObject,
  PodTemplateSpec,
  ResourceType,
} from '@gyropilot/api'
import { TEMPLATE, secondsAgo } from '../workload-support/fixtures.ts'
import { templatePatch } from './revision-data.ts'

export interface RevisionOptions {
  readonly name?: string
  readonly uid?: string
  readonly revision?: number
  readonly template?: PodTemplateSpec
  readonly data?: ControllerRevision['data']
  readonly labels?: Readonly<Record<string, string>>
  readonly owner?: { readonly object: KubernetesObject; readonly type: ResourceType }
  readonly ageSeconds?: number
  readonly resourceVersion?: string
}

export function controllerRevision(options: RevisionOptions = {}): ControllerRevision {
  const { name = 'rev', template = TEMPLATE, owner } = options
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace: 'ns',
      uid: options.uid ?? `${name}-uid`,
      resourceVersion: options.resourceVersion ?? '30',
      creationTimestamp: secondsAgo(options.ageSeconds ?? 60),
      labels: options.labels ?? { app: 'a' },
      ...(owner === undefined
        ? {}
        : { ownerReferences: [newControllerRef(owner.object, owner.type)] }),
    },
    data: options.data ?? templatePatch(template).data,
    revision: options.revision ?? 1,
  }
}
