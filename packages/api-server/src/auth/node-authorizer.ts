/**
 * What a kubelet may touch: the objects that pods bound to its node refer to, those pods, its own Node, Lease and CSINode.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "Authorization".
 */
import { podClaimNames, secretNamesOf } from '@gyropilot/api'
import type { RequestAttributes } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { Store } from '../storage/store.ts'
import { nodeNameOf } from './identity.ts'
import { ruleAllows } from './rbac-rules.ts'
import type { PolicyRule } from './rbac-rules.ts'
import { takesSecret } from './volume-secrets.ts'

const MIRROR = 'kubernetes.io/config.mirror'
const READ = ['get', 'list', 'watch']

/** What needs no look at the graph of pods. */
const NODE_RULES: readonly PolicyRule[] = [
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['subjectaccessreviews', 'localsubjectaccessreviews'],
  },
  { verbs: READ, apiGroups: [''], resources: ['services'] },
  { verbs: ['get'], apiGroups: [''], resources: ['endpoints'] },
  { verbs: ['create', 'update', 'patch'], apiGroups: [''], resources: ['nodes'] },
  { verbs: ['update', 'patch'], apiGroups: [''], resources: ['nodes/status', 'pods/status'] },
  { verbs: ['create', 'delete'], apiGroups: [''], resources: ['pods'] },
  { verbs: ['create'], apiGroups: [''], resources: ['pods/eviction'] },
  { verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
  {
    verbs: ['create', 'get', 'list', 'watch'],
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
  },
  { verbs: READ, apiGroups: ['storage.k8s.io'], resources: ['csidrivers'] },
  { verbs: READ, apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'] },
]

type Verdict = { readonly allowed: boolean; readonly reason: string }
const ALLOWED: Verdict = { allowed: true, reason: '' }
const NO_OPINION = refused('')
const NO_NAME = refused('No Object name found')
const NOT_NAMESPACED = refused('can only read namespaced object of this type')
const NOT_INDIVIDUAL = refused('can only get individual resources of this type')
const OWN_VERBS = ['get', 'create', 'update', 'patch', 'delete']

/** Whether a pod of the node has to do with the object that is named. */
type Refers = (pod: Stored, name: string) => boolean

export class NodeAuthorizer {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  authorize(request: RequestAttributes): Verdict {
    const node = nodeNameOf(request.user)
    if (node === undefined) return NO_OPINION
    if (node === '') return refused(`unknown node for user ${JSON.stringify(request.user.name)}`)
    if (!request.isResourceRequest) return NO_OPINION
    switch (`${request.resource}.${request.group}`) {
      case 'secrets.':
        return readOnly(
          request,
          node,
          () =>
            this.#isReferred(request, node, (pod, name) => secretNamesOf(pod).includes(name)) ||
            this.#isOfVolumes(request, node),
        )
      case 'configmaps.':
        return readOnly(request, node, () =>
          this.#isReferred(request, node, (pod, name) => configMapNames(pod).includes(name)),
        )
      case 'persistentvolumeclaims.':
        return this.#claim(request, node)
      case 'persistentvolumes.':
        return getOnly(request, node, () => {
          const volume = this.#find('persistentvolumes', request.name)
          return volume !== undefined && this.#isMounted(volume, node)
        })
      case 'resourceclaims.resource.k8s.io':
        return getOnly(request, node, () =>
          this.#isReferred(request, node, (pod, name) => podClaimNames(pod).includes(name)),
        )
      case 'serviceaccounts.':
        return this.#serviceAccount(request, node)
      case 'volumeattachments.storage.k8s.io':
        return getOnly(
          request,
          node,
          () =>
            this.#find(`${request.resource}.${request.group}`, request.name)?.['spec'].nodeName ===
            node,
        )
      case 'leases.coordination.k8s.io':
        return ownLease(request, node)
      case 'csinodes.storage.k8s.io':
        return ownStorageNode(request, node)
      case 'nodes.':
        return ownNode(request, node)
      case 'pods.':
        return this.#pod(request, node)
      case 'resourceslices.resource.k8s.io':
        return this.#resourceSlice(request, node)
      default:
        return fixedRules(request)
    }
  }

  #claim(request: RequestAttributes, node: string): Verdict {
    const isReferred = (): boolean =>
      this.#isReferred(request, node, (pod, name) => claimNames(pod).includes(name))
    if (request.subresource !== 'status') return getOnly(request, node, isReferred)
    if (!['update', 'patch'].includes(request.verb))
      return refused('can only get/update/patch this type')
    return related(request, node, isReferred)
  }

  /** Upstream's way from a secret to a node, too: over the volume, and over the claim that the volume is for, to its pods. */
  #isOfVolumes({ namespace, name }: RequestAttributes, node: string): boolean {
    const volumes = this.#store.list('persistentvolumes', '')
    if (volumes === 'expired') return false
    return volumes.entries.some(
      ({ object }) => takesSecret(object, namespace, name) && this.#isMounted(object, node),
    )
  }

  #isMounted(volume: Stored, node: string): boolean {
    const claim = volume['spec'].claimRef
    if (claim === undefined) return false
    return this.#podsOf(node, claim.namespace).some((pod) => claimNames(pod).includes(claim.name))
  }

  #serviceAccount(request: RequestAttributes, node: string): Verdict {
    const { verb, subresource, namespace, name } = request
    const isReferred = (): boolean =>
      this.#isReferred(request, node, (pod, own) => pod['spec'].serviceAccountName === own)
    if (verb === 'get' && subresource === '') {
      if (namespace === '') return NOT_NAMESPACED
      return related(request, node, isReferred)
    }
    if (verb !== 'create' || name === '')
      return refused('can only create tokens for individual service accounts')
    if (subresource !== 'token')
      return refused('can only create token subresource of serviceaccount')
    return related(request, node, isReferred)
  }

  #pod(request: RequestAttributes, node: string): Verdict {
    const { verb, subresource, namespace, name } = request
    if (subresource !== '' || !READ.includes(verb)) return fixedRules(request)
    if (verb !== 'get' && selects(request, node)) return ALLOWED
    if (verb !== 'get' && name === '')
      return refused('can only list/watch pods with spec.nodeName field selector')
    return related(request, node, () => {
      return this.#find('pods', `${namespace}/${name}`)?.['spec'].nodeName === node
    })
  }

  #resourceSlice(request: RequestAttributes, node: string): Verdict {
    const { verb, subresource, name } = request
    if (subresource !== '') return refused('cannot authorize ResourceSlice subresources')
    if (verb === 'create') return ALLOWED
    if (['list', 'watch', 'deletecollection'].includes(verb)) {
      if (selects(request, node)) return ALLOWED
      return refused(
        'can only list/watch/deletecollection resourceslices with nodeName field selector',
      )
    }
    return related(request, node, () => {
      return this.#find('resourceslices.resource.k8s.io', name)?.['spec'].nodeName === node
    })
  }

  #isReferred({ namespace, name }: RequestAttributes, node: string, refers: Refers): boolean {
    return this.#podsOf(node, namespace).some((pod) => refers(pod, name))
  }

  #find(collection: string, key: string): Stored | undefined {
    return this.#store.get({ collection, key })?.object
  }

  /** Without mirror pods: a node makes those itself, and must not give itself rights by them. */
  #podsOf(node: string, namespace: string): Stored[] {
    const snapshot = this.#store.list('pods', `${namespace}/`)
    if (snapshot === 'expired') return []
    return snapshot.entries
      .map((entry) => entry.object)
      .filter((pod) => pod['spec'].nodeName === node && !isMirror(pod))
  }
}

function related({ name }: RequestAttributes, node: string, isRelated: () => boolean): Verdict {
  if (name === '') return NO_NAME
  if (isRelated()) return ALLOWED
  return refused(`no relationship found between node '${node}' and this object`)
}

/** get by name, and list and watch of that one name. */
function readOnly(request: RequestAttributes, node: string, isRelated: () => boolean): Verdict {
  if (!READ.includes(request.verb)) return refused('can only read resources of this type')
  if (request.subresource !== '') return refused('cannot read subresource')
  if (request.namespace === '') return NOT_NAMESPACED
  return related(request, node, isRelated)
}

function getOnly(request: RequestAttributes, node: string, isRelated: () => boolean): Verdict {
  if (request.verb !== 'get') return NOT_INDIVIDUAL
  if (request.subresource !== '') return refused('cannot get subresource')
  return related(request, node, isRelated)
}

/** Names are unknown at creation: admission (NodeRestriction) checks those. */
function ownLease({ verb, namespace, name }: RequestAttributes, node: string): Verdict {
  if (!OWN_VERBS.includes(verb))
    return refused('can only get, create, update, patch, or delete a node lease')
  if (namespace !== 'kube-node-lease')
    return refused('can only access leases in the "kube-node-lease" system namespace')
  if (verb === 'create' || name === node) return ALLOWED
  return refused('can only access node lease with the same name as the requesting node')
}

function ownStorageNode({ verb, subresource, name }: RequestAttributes, node: string): Verdict {
  if (!OWN_VERBS.includes(verb))
    return refused('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return refused('cannot authorize CSINode subresources')
  if (verb === 'create' || name === node) return ALLOWED
  return refused('can only access CSINode with the same name as the requesting node')
}

/** Of others, admission (NodeRestriction) keeps a node from writing them. */
function ownNode(request: RequestAttributes, node: string): Verdict {
  const { verb, subresource, name } = request
  if (subresource !== '' || !READ.includes(verb)) return fixedRules(request)
  if (name === node) return ALLOWED
  const asked = name === '' ? 'all nodes' : `'${name}'`
  return refused(`node '${node}' cannot read ${asked}, only its own Node object`)
}

function selects({ fieldSelector = '' }: RequestAttributes, node: string): boolean {
  const fields = fieldSelector.split(',')
  return fields.includes(`spec.nodeName=${node}`) || fields.includes(`spec.nodeName==${node}`)
}

function fixedRules(request: RequestAttributes): Verdict {
  return NODE_RULES.some((rule) => ruleAllows(rule, request)) ? ALLOWED : NO_OPINION
}

function refused(reason: string): Verdict {
  return { allowed: false, reason }
}

function isMirror({ metadata }: Stored): boolean {
  return metadata.annotations?.[MIRROR] !== undefined
}

function containersOf(pod: Stored): Stored[] {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = pod['spec']
  return [...initContainers, ...containers, ...ephemeralContainers]
}

function volumeSources(pod: Stored): Stored[] {
  return (pod['spec'].volumes ?? []).flatMap((volume: Stored) => [
    volume,
    ...(volume['projected']?.sources ?? []),
  ])
}

function configMapNames(pod: Stored): string[] {
  const names: (string | undefined)[] = []
  for (const container of containersOf(pod)) {
    for (const source of container['envFrom'] ?? []) names.push(source.configMapRef?.name)
    for (const variable of container['env'] ?? [])
      names.push(variable.valueFrom?.configMapKeyRef?.name)
  }
  for (const source of volumeSources(pod)) names.push(source['configMap']?.name)
  return names.filter((name) => name !== undefined)
}

function claimNames(pod: Stored): string[] {
  const names: (string | undefined)[] = []
  for (const volume of pod['spec'].volumes ?? []) {
    names.push(volume.persistentVolumeClaim?.claimName)
    if (volume.ephemeral !== undefined) names.push(`${pod['metadata'].name}-${volume.name}`)
  }
  return names.filter((name) => name !== undefined)
}
