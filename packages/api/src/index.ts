export type * from './generated/types.ts'
export {
  resources,
  resourcesOnRequest,
  resourceTable,
  resourceTableOnRequest,
} from './generated/resource-types.ts'
export type { DiscoveredResource, DiscoveredSubresource } from './discovered-resource.ts'
export type {
  JsonValue,
  KubernetesObject,
  ObjectList,
  Status,
  StatusCause,
  StatusDetails,
  UnstructuredObject,
  WatchEvent,
} from './object.ts'
export { KUBERNETES_VERSION } from './kubernetes-version.ts'
export {
  apiVersionOf,
  groupResourceOf,
  keyOf,
  pathOf,
  pathSegment,
  splitKey,
} from './resource-type.ts'
export type { ResourceType } from './resource-type.ts'
export type {
  FieldSchema,
  FieldType,
  ListType,
  MapType,
  ObjectSchema,
  PatchStrategy,
  UnionSchema,
} from './schema.ts'
export { deepEqual, semanticEqual } from './values/deep-equal.ts'
export { SharedSubtrees } from './values/shared-subtrees.ts'
export { goFormat, goTypeName } from './values/go-format.ts'
export { MergePatchError, applyMergePatch } from './patches/merge-patch.ts'
export { createJsonPatch } from './patches/create-json-patch.ts'
export { createMergePatch } from './patches/create-merge-patch.ts'
export {
  JsonPatchError,
  JsonPatchTestError,
  MAX_COPIED_BYTES,
  applyJsonPatch,
} from './patches/json-patch.ts'
export { DEEPEST_NESTING } from './values/nesting.ts'
export type { JsonPatchOperation } from './patches/json-patch.ts'
export {
  StrategicMergeError,
  applyStrategicMergePatch,
  mergeStrategically,
} from './patches/strategic-merge-patch.ts'
export * from './names.ts'
export { InvalidSelectorError, LabelQuery, labelRequirement } from './selectors/label-query.ts'
export type { LabelOperator, LabelRequirement, Labels } from './selectors/label-query.ts'
export { parseLabelQuery } from './selectors/parse-label-query.ts'
export { labelSelectorText } from './selectors/label-selector-text.ts'
export {
  labelQueryOf,
  labelQueryOfLabels,
  labelSelectorProblems,
} from './selectors/label-selector.ts'
export type { SelectorProblem } from './selectors/label-selector.ts'
export { FieldQuery, escapeFieldValue, parseFieldQuery } from './selectors/field-query.ts'
export type { FieldTerm } from './selectors/field-query.ts'
export { InvalidQuantityError } from './values/quantity-text.ts'
export type { QuantityFormat } from './values/quantity-text.ts'
export * from './values/quantity.ts'
export * from './values/stored-quantity.ts'
export {
  InvalidIntOrPercentError,
  percentOf,
  resolveIntOrPercent,
} from './values/int-or-percent.ts'
export * from './ownership/owner-references.ts'
export * from './ownership/finalizers.ts'
export * from './conditions.ts'
export * from './storage-versions.ts'
export { compareTimes, elapsedSince, parseTime } from './values/time.ts'
export * from './pods/pod-requests.ts'
export * from './pods/pods.ts'
export * from './pods/volumes.ts'
export {
  EXTENDED_CLAIM_ANNOTATION,
  isClaimFor,
  isReservedFor,
  namedClaims,
  podClaimName,
  podClaimNames,
} from './pods/pod-resource-claims.ts'
export type { ClaimUser, PodClaimName } from './pods/pod-resource-claims.ts'
export { POD_GROUPS, podGroupKeyOf, podGroupNameOf } from './pods/pod-groups.ts'
export { addResources, maxResources, podResources } from './pods/pod-resources.ts'
export type { PodResourcesOptions, ResourceList } from './pods/pod-resources.ts'
export * from './quota/index.ts'
export {
  defaultNetworkVolume,
  defaultTemplate,
  defaultTemplateSpec,
  pullPolicyOf,
} from './pods/pod-template-defaults.ts'
export { secretNamesOf } from './pods/pod-secrets.ts'
export * from './values/ip.ts'
export { nodeAffinityMatches, nodeSelectorMatches, nodeTermMatches } from './pods/node-affinity.ts'
export { hostPortsConflict, hostPortsOf } from './pods/host-ports.ts'
export {
  RESTART_ALL_CONTAINERS,
  mayRestartAllContainers,
  mayStartAgain,
  restartActionFor,
} from './pods/restart-rules.ts'
export { SAFE_SYSCTLS } from './pods/safe-sysctls.ts'
export type { HostPort } from './pods/host-ports.ts'
export { isTaintTolerated, tolerates } from './pods/tolerations.ts'
export type { TolerationOptions } from './pods/tolerations.ts'
export { fnv1, fnv1a, fnv1a128 } from './values/fnv.ts'
export { GO_TYPE_META, jsonTypeName, own, setOwn } from './values/json-objects.ts'
export { canonicalJson } from './values/canonical-json.ts'
export { revisionHash } from './values/revision-hash.ts'
export { CronSchedule } from './cron/cron-schedule.ts'
export { UTC, formatZonedTime, isKnownTimeZone, timeZoneNamed } from './cron/time-zone.ts'
export type { TimeZone } from './cron/time-zone.ts'
