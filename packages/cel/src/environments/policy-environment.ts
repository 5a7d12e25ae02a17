/**
 * What the expressions of policies and match conditions may name.
 * Contract: docs/behaviour/api-server/subresources-and-admission.md, Validating and mutating policies.
 */
import type { Environment } from './environment.ts'
import { POLICY_ENVIRONMENT, RULES_ENVIRONMENT } from './standard-environments.ts'
import { AUTHORIZER_TYPE, RESOURCE_CHECK_TYPE } from '../libraries/authorizer.ts'
import { JSON_PATCH_TYPE } from '../libraries/json-patch.ts'
import {
  BOOL,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  listType,
  mapType,
  objectType,
} from '../checking/types.ts'
import type { CelType, ObjectType } from '../checking/types.ts'

const KIND = objectType('kubernetes.GroupVersionKind', {
  group: STRING,
  version: STRING,
  kind: STRING,
})
const RESOURCE = objectType('kubernetes.GroupVersionResource', {
  group: STRING,
  version: STRING,
  resource: STRING,
})
const USER = objectType('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listType(STRING),
  extra: mapType(STRING, listType(STRING)),
})
const REQUEST_FIELDS = {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
}
/** The options of CONNECT are null. */
export const REQUEST_TYPE: ObjectType = {
  ...objectType('kubernetes.AdmissionRequest', REQUEST_FIELDS),
  hasNulls: true,
}
export const NAMESPACE_TYPE = objectType('kubernetes.Namespace', {
  metadata: objectType('kubernetes.NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapType(STRING, STRING),
    annotations: mapType(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listType(STRING),
  }),
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: listType(STRING) }),
  status: objectType('kubernetes.NamespaceStatus', {
    conditions: listType(
      objectType('kubernetes.NamespaceCondition', {
        status: STRING,
        type: STRING,
        lastTransitionTime: TIMESTAMP,
        message: STRING,
        reason: STRING,
      }),
    ),
    phase: STRING,
  }),
})

export interface PolicyEnvironmentOptions {
  /** Of `object` and `oldObject`. Default: any. */
  readonly object?: CelType
  /** Of `params`; true: any. Absent: there is no such name. */
  readonly params?: CelType | boolean
  readonly authorizer?: boolean
  /** `authorizer.requestResource`. Default: as `authorizer`. */
  readonly requestResource?: boolean
  /** Types of the policy's variables, by name. */
  readonly variables?: Readonly<Record<string, CelType>>
  /** Object{...} and JSONPatch{...} may be written. */
  readonly patches?: boolean
}

export function policyEnvironment(options: PolicyEnvironmentOptions): Environment {
  const { object = DYN, params = false, authorizer = false, variables, patches = false } = options
  const { requestResource = authorizer } = options
  const environment = (patches ? POLICY_ENVIRONMENT : RULES_ENVIRONMENT).withVariables({
    object,
    oldObject: object,
    request: REQUEST_TYPE,
    namespaceObject: NAMESPACE_TYPE,
    ...(params === false ? {} : { params: params === true ? DYN : params }),
    ...(authorizer ? { authorizer: AUTHORIZER_TYPE } : {}),
    ...(requestResource ? { 'authorizer.requestResource': RESOURCE_CHECK_TYPE } : {}),
    ...(variables === undefined
      ? {}
      : { variables: objectType('kubernetes.variables', variables) }),
  })
  return patches ? environment.withStructs(patchStruct) : environment
}

/** `Object`, and `Object.spec.template` for what stands below: any fields, checked when the patch is applied. */
function patchStruct(name: string): ObjectType | undefined {
  if (name === 'JSONPatch') return JSON_PATCH_TYPE
  if (name !== 'Object' && !name.startsWith('Object.')) return undefined
  return { kind: 'object', name, fields: new Map(), open: () => DYN }
}

/** What a variable is to those who use it: scalars, and lists and maps of them. Objects and all others may be anything. */
export function variableType(type: CelType): CelType {
  switch (type.kind) {
    case 'list':
      return listType(variableType(type.element))
    case 'map':
      return mapType(variableType(type.key), variableType(type.value))
    case 'object':
    case 'opaque':
    case 'type':
    case 'parameter':
    case 'error':
      return DYN
    default:
      return type
  }
}
