/** What is read about one object, and what follows from it. Values as the server gave them; nothing here reads. */
import type {
  DiscoveredResource,
  Lease,
  MutatingWebhook,
  OwnerReference,
  UnstructuredObject,
  ValidatingWebhook,
} from '@gyropilot/api'

/** An object and the resource it was read from. Lists hold metadata only where nothing more is needed. */
export interface Found {
  readonly type: DiscoveredResource
  readonly object: UnstructuredObject
}

/** A list that could not be read. `forbidden`: this user may not; the cluster itself may well be able to. */
export interface FailedList {
  /** `widgets.example.com`. */
  readonly resource: string
  readonly reason: string
  readonly forbidden: boolean
}

export interface Listing {
  readonly found: readonly Found[]
  readonly failed: readonly FailedList[]
}

/** `gone`: 404 or another uid. `no namespace`: its kind has namespaces, and what it owns has none to look in. */
type OwnerState =
  | { readonly state: 'there'; readonly found: Found }
  | { readonly state: 'gone' }
  | { readonly state: 'unknown kind' }
  | { readonly state: 'no namespace' }
  | { readonly state: 'unreadable'; readonly reason: string }

export interface OwnerFact {
  readonly reference: OwnerReference
  readonly owner: OwnerState
}

/** A webhook of some configuration and whether anybody answers for it. Unknown: a URL, or nothing could be read. */
export interface WebhookFact {
  readonly configuration: string
  readonly kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration'
  readonly webhook: ValidatingWebhook | MutatingWebhook
  readonly backend: 'answers' | 'no service' | 'no ready endpoints' | 'unknown'
}

/** A workload that may be the controller of a finalizer that nobody knows. */
export interface Workload {
  /** `deployment`. */
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly replicas: number
  readonly ready: number
}

export interface ClusterFacts {
  readonly webhooks: readonly WebhookFact[]
  /** Group versions that discovery could not read, with the reason. */
  readonly failedGroups: ReadonlyMap<string, string>
  /** All that could be read, of every namespace. */
  readonly leases: readonly Lease[]
  readonly workloads: readonly Workload[]
  readonly unread: UnreadLists
}

/** What could not be read of the cluster, so that its absence above says nothing. */
interface UnreadLists {
  readonly webhooks: readonly FailedList[]
  /** Workloads and leases: whether a controller runs cannot be seen. */
  readonly controllers: readonly FailedList[]
}

export interface Facts extends Found {
  readonly nowMs: number
  readonly cluster: ClusterFacts
  /** Of namespaced objects. */
  readonly namespace?: UnstructuredObject | undefined
  /** Of pods that are bound to one. */
  readonly node?: UnstructuredObject | 'missing' | undefined
  readonly owners: readonly OwnerFact[]
  /** Objects with an owner reference to it. Read when a finalizer of the garbage collector is there. */
  readonly dependents: Listing
  /** Of a namespace, everything in it; of a custom resource definition, its objects. */
  readonly contents: Listing
  /** What the rules of its finalizers look at: pods, claims, volumes, attachments, addresses. */
  readonly related: Listing
  /** Messages of warnings about it, the newest first. */
  readonly warnings: readonly string[]
}

/** One thing that holds. */
export interface Reason {
  readonly code: ReasonCode
  /** What holds: `finalizer kubernetes.io/pvc-protection`. */
  readonly holds: string
  /** Who takes it away; absent where nobody has to. */
  readonly remover?: string
  readonly since?: string
  /** What was seen that says so. */
  readonly evidence: readonly string[]
  readonly release: string
  /** Objects that it waits for: the chain down. */
  readonly waitsFor: readonly Found[]
}

type ReasonCode =
  | 'BlockedByWebhook'
  | 'ControllerStopped'
  | 'Dependents'
  | 'Finalizer'
  | 'GracePeriod'
  | 'KindUnreadable'
  | 'NamespaceContent'
  | 'NamespaceFinalizer'
  | 'NamespaceTerminating'
  | 'NothingLeft'
  | 'OwnerDeleting'
  | 'OwnerGone'

export interface Explanation {
  readonly state: 'deleting' | 'present'
  /** RFC 3339: when the deletion was asked for. */
  readonly since?: string | undefined
  readonly reasons: readonly Reason[]
  /** True of it, and no reason. */
  readonly notes: readonly string[]
}
