/** Messages of kinds that no schema tells of, or not enough: what only the metadata was asked for of, and documents of discovery. */
import { schemaNamed } from '@gyropilot/api/schema'
import {
  planOf,
  valuePlan,
  type FieldPlan,
  type MessagePlan,
  type ValuePlan,
} from './message-plan.ts'

type Field = readonly [name: string, shape: FieldPlan['shape'], value: ValuePlan]

const TEXT = valuePlan({ type: 'string' })
const text = (name: string): Field => [name, 'single', TEXT]
const texts = (name: string): Field => [name, 'list', TEXT]
const single = (name: string, plan: () => MessagePlan): Field => [
  name,
  'single',
  { kind: 'message', plan },
]
const list = (name: string, plan: () => MessagePlan): Field => [
  name,
  'list',
  { kind: 'message', plan },
]

/** Fields are numbered from 1, as they come. */
function plan(goName: string, ...fields: readonly Field[]): MessagePlan {
  return {
    goName,
    fields: new Map(
      fields.map(([name, shape, value], i) => [i + 1, { name, goName: name, shape, value }]),
    ),
  }
}

const objectMetadata = (): MessagePlan => planOf(schemaNamed('meta-v1.ObjectMeta')!)
const listMetadata = (): MessagePlan => planOf(schemaNamed('meta-v1.ListMeta')!)

const OBJECT_METADATA = plan('PartialObjectMetadata', single('metadata', objectMetadata))
const METADATA_LIST = plan(
  'PartialObjectMetadataList',
  single('metadata', listMetadata),
  list('items', () => OBJECT_METADATA),
)

/** The older version numbers the fields of its list the other way round. */
const METADATA_LIST_V1BETA1 = plan(
  'PartialObjectMetadataList',
  list('items', () => OBJECT_METADATA),
  single('metadata', listMetadata),
)

export function metadataPlan(version: string, kind: string): MessagePlan | undefined {
  if (kind === OBJECT_METADATA.goName) return OBJECT_METADATA
  if (kind !== METADATA_LIST.goName) return undefined
  return version === 'v1beta1' ? METADATA_LIST_V1BETA1 : METADATA_LIST
}

const SERVER_ADDRESS = plan('ServerAddressByClientCIDR', text('clientCIDR'), text('serverAddress'))
const GROUP_VERSION = plan('GroupVersionForDiscovery', text('groupVersion'), text('version'))
const GROUP = plan(
  'APIGroup',
  text('name'),
  list('versions', () => GROUP_VERSION),
  single('preferredVersion', () => GROUP_VERSION),
  list('serverAddressByClientCIDRs', () => SERVER_ADDRESS),
)
const RESOURCE = plan(
  'APIResource',
  text('name'),
  ['namespaced', 'single', valuePlan({ type: 'boolean' })],
  text('kind'),
  ['verbs', 'single', { kind: 'wrapped-list', items: TEXT }],
  texts('shortNames'),
  text('singularName'),
  texts('categories'),
  text('group'),
  text('version'),
  text('storageVersionHash'),
)
const KIND = plan('GroupVersionKind', text('group'), text('version'), text('kind'))
const DISCOVERED_SUBRESOURCE = plan(
  'APISubresourceDiscovery',
  text('subresource'),
  single('responseKind', () => KIND),
  list('acceptedTypes', () => KIND),
  texts('verbs'),
)
const DISCOVERED_RESOURCE = plan(
  'APIResourceDiscovery',
  text('resource'),
  single('responseKind', () => KIND),
  text('scope'),
  text('singularResource'),
  texts('verbs'),
  texts('shortNames'),
  texts('categories'),
  list('subresources', () => DISCOVERED_SUBRESOURCE),
)
const DISCOVERED_VERSION = plan(
  'APIVersionDiscovery',
  text('version'),
  list('resources', () => DISCOVERED_RESOURCE),
  text('freshness'),
)
const DISCOVERED_GROUP = plan(
  'APIGroupDiscovery',
  single('metadata', objectMetadata),
  list('versions', () => DISCOVERED_VERSION),
)

const DOCUMENTS: ReadonlyMap<string, MessagePlan> = new Map(
  [
    plan(
      'APIVersions',
      texts('versions'),
      list('serverAddressByClientCIDRs', () => SERVER_ADDRESS),
    ),
    plan(
      'APIGroupList',
      list('groups', () => GROUP),
    ),
    GROUP,
    plan(
      'APIResourceList',
      text('groupVersion'),
      list('resources', () => RESOURCE),
    ),
    plan(
      'APIGroupDiscoveryList',
      single('metadata', listMetadata),
      list('items', () => DISCOVERED_GROUP),
    ),
  ].map((document) => [document.goName, document]),
)

/** Documents of discovery, plain and aggregated. */
export function discoveryPlan(kind: string): MessagePlan | undefined {
  return DOCUMENTS.get(kind)
}
