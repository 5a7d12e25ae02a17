/**
 * What a kubelet may touch: the objects that pods bound to its node refer to, those pods, its own Node, Lease and CSINode.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, "Authorization".
 */
import { secretNamesOf } from '@gyropilot/api'
import type { RequestAttributes } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { Store } from '../storage/store.ts'
import { nodeNameOf } from './identity.ts'
import { ruleAllows } from './rbac-rules.ts'
import type { PolicyRule } from './rbac-rules.ts'

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
  { verbs: ['create'], apiGroups: [''], resources: ['nodes', 'pods'] },
  { verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
  {
    verbs: ['create', 'get', 'list', 'watch'],
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
  },
  { verbs: READ, apiGroups: ['storage.k8s.io'], resources: ['csidrivers'] },
  { verbs: READ, apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'] },
  { verbs: READ, apiGroups: ['certificates.k8s.io'], resources: ['clustertrustbundles'] },
]

type Verdict = { readonly allowed: boolean; readonly reason: string }
const NO_OPINION: Verdict = { allowed: false, reason: '' }
const ALLOWED: Verdict = { allowed: true, reason: '' }

export class NodeAuthorizer {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  authorize(request: RequestAttributes): Verdict {
    const node = nodeNameOf(request.user)
    if (node === undefined || !request.isResourceRequest) return NO_OPINION
    switch (`${request.resource}.${request.group}`) {
      case 'secrets.':
        return this.#readOnly(request, node, (pod, name) => secretNamesOf(pod).includes(name))
      case 'configmaps.':
        return this.#readOnly(request, node, (pod, name) => configMapNames(pod).includes(name))
      case 'persistentvolumeclaims.':
        if (request.subresource === 'status') return this.#claimStatus(request, node)
        return this.#readOnly(request, node, (pod, name) => claimNames(pod).includes(name))
      case 'persistentvolumes.':
        return this.#persistentVolume(request, node)
      case 'resourceclaims.resource.k8s.io':
        return this.#readOnly(request, node, (pod, name) => resourceClaimNames(pod).includes(name))
      case 'serviceaccounts.':
        return this.#serviceAccount(request, node)
      case 'volumeattachments.storage.k8s.io':
        return this.#volumeAttachment(request, node)
      case 'leases.coordination.k8s.io':
        return this.#ownLease(request, node)
      case 'csinodes.storage.k8s.io':
        return this.#own(request, node, ['get', 'create', 'update', 'patch', 'delete'])
      case 'nodes.':
        return this.#node(request, node)
      case 'pods.':
        return this.#pod(request, node)
      case 'resourceslices.resource.k8s.io':
        return this.#resourceSlice(request, node)
      default:
        return fixedRules(request)
    }
  }

  /** get by name, and list and watch of that one name. */
  #readOnly(
    request: RequestAttributes,
    node: string,
    refers: (pod: Stored, name: string) => boolean,
  ): Verdict {
    if (!READ.includes(request.verb) || request.subresource !== '') return noRelation(node)
    if (request.name === '' || request.namespace === '') return noRelation(node)
    const found = this.#podsOf(node, request.namespace).some((pod) => refers(pod, request.name))
    return found ? ALLOWED : noRelation(node)
  }

  #claimStatus(request: RequestAttributes, node: string): Verdict {
    if (!['get', 'update', 'patch'].includes(request.verb)) return noRelation(node)
    const found = this.#podsOf(node, request.namespace).some((pod) =>
      claimNames(pod).includes(request.name),
    )
    return found ? ALLOWED : noRelation(node)
  }

  #persistentVolume(request: RequestAttributes, node: string): Verdict {
    if (request.verb !== 'get' || request.subresource !== '') return noRelation(node)
    const claim = this.#store.get({ collection: 'persistentvolumes', key: request.name })?.object[
      'spec'
    ]?.claimRef
    if (claim === undefined) return noRelation(node)
    const found = this.#podsOf(node, claim.namespace).some((pod) =>
      claimNames(pod).includes(claim.name),
    )
    return found ? ALLOWED : noRelation(node)
  }

  #serviceAccount(request: RequestAttributes, node: string): Verdict {
    const isTokenRequest = request.subresource === 'token' && request.verb === 'create'
    const isRead = request.subresource === '' && request.verb === 'get'
    if (!isTokenRequest && !isRead) return noRelation(node)
    const found = this.#podsOf(node, request.namespace).some(
      (pod) => pod['spec'].serviceAccountName === request.name,
    )
    return found ? ALLOWED : noRelation(node)
  }

  #volumeAttachment(request: RequestAttributes, node: string): Verdict {
    if (request.verb !== 'get' || request.subresource !== '') return noRelation(node)
    const stored = this.#store.get({
      collection: 'volumeattachments.storage.k8s.io',
      key: request.name,
    })?.object
    return stored?.['spec']?.nodeName === node ? ALLOWED : noRelation(node)
  }

  #ownLease(request: RequestAttributes, node: string): Verdict {
    if (request.namespace !== 'kube-node-lease') return noRelation(node)
    return this.#own(request, node, ['get', 'create', 'update', 'patch', 'delete'])
  }

  /** Names are unknown at creation: admission (NodeRestriction) checks those. */
  #own(request: RequestAttributes, node: string, verbs: readonly string[]): Verdict {
    if (!verbs.includes(request.verb) || request.subresource !== '') return noRelation(node)
    return request.verb === 'create' || request.name === node ? ALLOWED : noRelation(node)
  }

  #node(request: RequestAttributes, node: string): Verdict {
    if (request.verb === 'create' && request.subresource === '') return ALLOWED
    if (request.name !== node) return noRelation(node)
    if (request.subresource === '')
      return [...READ, 'update', 'patch'].includes(request.verb) ? ALLOWED : noRelation(node)
    if (request.subresource === 'status')
      return ['update', 'patch'].includes(request.verb) ? ALLOWED : noRelation(node)
    return noRelation(node)
  }

  #pod(request: RequestAttributes, node: string): Verdict {
    if (request.verb === 'create' && request.subresource === '') return ALLOWED
    if ((request.verb === 'list' || request.verb === 'watch') && request.subresource === '') {
      const fields = (request.fieldSelector ?? '').split(',')
      return fields.some(
        (field) => field === `spec.nodeName=${node}` || field === `spec.nodeName==${node}`,
      )
        ? ALLOWED
        : noRelation(node)
    }
    const isAllowedVerb =
      (request.subresource === '' && ['get', 'delete'].includes(request.verb)) ||
      (request.subresource === 'status' && ['update', 'patch'].includes(request.verb)) ||
      (request.subresource === 'eviction' && request.verb === 'create')
    if (!isAllowedVerb) return noRelation(node)
    const pod = this.#store.get({
      collection: 'pods',
      key: `${request.namespace}/${request.name}`,
    })?.object
    return pod === undefined || pod['spec'].nodeName === node ? ALLOWED : noRelation(node)
  }

  #resourceSlice(request: RequestAttributes, node: string): Verdict {
    if (request.verb === 'create') return ALLOWED
    if (['list', 'watch', 'deletecollection'].includes(request.verb)) {
      return (request.fieldSelector ?? '').split(',').includes(`spec.nodeName=${node}`)
        ? ALLOWED
        : noRelation(node)
    }
    const slice = this.#store.get({
      collection: 'resourceslices.resource.k8s.io',
      key: request.name,
    })?.object
    return slice?.['spec']?.nodeName === node ? ALLOWED : noRelation(node)
  }

  #podsOf(node: string, namespace: string): Stored[] {
    const snapshot = this.#store.list('pods', `${namespace}/`)
    if (snapshot === 'expired') return []
    return snapshot.entries
      .map((entry) => entry.object)
      .filter((pod) => pod['spec'].nodeName === node)
  }
}

function fixedRules(request: RequestAttributes): Verdict {
  return NODE_RULES.some((rule) => ruleAllows(rule, request)) ? ALLOWED : NO_OPINION
}

function noRelation(node: string): Verdict {
  return { allowed: false, reason: `no relationship found between node '${node}' and this object` }
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

export function configMapNames(pod: Stored): string[] {
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

function resourceClaimNames(pod: Stored): string[] {
  const fromSpec = (pod['spec'].resourceClaims ?? []).map(
    (entry: Stored) => entry['resourceClaimName'],
  )
  const fromStatus = (pod['status']?.resourceClaimStatuses ?? []).map(
    (entry: Stored) => entry['resourceClaimName'],
  )
  return [...fromSpec, ...fromStatus].filter((name) => name !== undefined)
}
