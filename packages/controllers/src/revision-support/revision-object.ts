/**
 * New ControllerRevisions and their names.
 * Contract: docs/behaviour/controllers/shared-controller-utils.md, ControllerRevision history.
 */
import { newControllerRef } from '@gyropilot/api'
import type {
  ControllerRevision,
  KubernetesObject,
  PodTemplateSpec,
  ResourceType,
} from '@gyropilot/api'
import type { TemplatePatch } from './revision-data.ts'

/** What a name may have besides its hash: 253 less a dash and the longest hash with room to spare. */
const LONGEST_PREFIX = 223

interface NewRevision {
  readonly owner: KubernetesObject
  readonly ownerType: ResourceType
  readonly template: PodTemplateSpec
  /** Of the template. */
  readonly patch: TemplatePatch
  readonly revision: number
  /** In the name, and the value of `hashLabel`. */
  readonly hash: string
  /** `controller.kubernetes.io/hash`, `controller-revision-hash`. */
  readonly hashLabel: string
}

/** The template's labels with the hash, the owner's annotations, one controlling reference. */
export function newRevision({
  owner,
  ownerType,
  template,
  patch,
  revision,
  hash,
  hashLabel,
}: NewRevision): ControllerRevision {
  const { namespace, name = '', annotations } = owner.metadata ?? {}
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: revisionName(name, hash),
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [newControllerRef(owner, ownerType)],
    },
    data: patch.data,
    revision,
  }
}

export function revisionName(ownerName: string, hash: string): string {
  return `${ownerName.slice(0, LONGEST_PREFIX)}-${hash}`
}

export function withName(revision: ControllerRevision, name: string): ControllerRevision {
  return { ...revision, metadata: { ...revision.metadata, name } }
}
