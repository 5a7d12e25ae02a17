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
export { apiVersionOf, groupResourceOf, keyOf, pathOf, splitKey } from './resource-type.ts'
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
export { deepEqual, semanticEqual } from './deep-equal.ts'
export { goFormat, goTypeName } from './go-format.ts'
export { MergePatchError, applyMergePatch } from './merge-patch.ts'
export { createMergePatch } from './create-merge-patch.ts'
export { JsonPatchError, MAX_COPIED_BYTES, applyJsonPatch } from './json-patch.ts'
export type { JsonPatchOperation } from './json-patch.ts'
export { StrategicMergeError, applyStrategicMergePatch } from './strategic-merge-patch.ts'
export * from './names.ts'
export { InvalidSelectorError, LabelQuery, labelRequirement } from './label-query.ts'
export type { LabelOperator, LabelRequirement, Labels } from './label-query.ts'
export { parseLabelQuery } from './parse-label-query.ts'
export { labelSelectorText } from './label-selector-text.ts'
export { labelQueryOf, labelQueryOfLabels, labelSelectorProblems } from './label-selector.ts'
export type { SelectorProblem } from './label-selector.ts'
export { FieldQuery, escapeFieldValue, parseFieldQuery } from './field-query.ts'
export type { FieldTerm } from './field-query.ts'
export * from './quantity.ts'
export { InvalidIntOrPercentError, percentOf, resolveIntOrPercent } from './int-or-percent.ts'
export * from './owner-references.ts'
export * from './finalizers.ts'
export * from './conditions.ts'
export { compareTimes, elapsedSince, parseTime } from './time.ts'
export * from './pod-requests.ts'
export * from './pods.ts'
export * from './volumes.ts'
export { isClaimFor, isReservedFor, podClaimName, podClaimNames } from './pod-resource-claims.ts'
export type { PodClaimName } from './pod-resource-claims.ts'
export { addResources, maxResources, podResources } from './pod-resources.ts'
export type { PodResourcesOptions, ResourceList } from './pod-resources.ts'
export * from './quota/index.ts'
export {
  defaultNetworkVolume,
  defaultTemplate,
  defaultTemplateSpec,
  pullPolicyOf,
} from './pod-template-defaults.ts'
export { secretNamesOf } from './pod-secrets.ts'
export * from './ip.ts'
export { nodeAffinityMatches, nodeSelectorMatches, nodeTermMatches } from './node-affinity.ts'
export { isTaintTolerated, tolerates } from './tolerations.ts'
export type { TolerationOptions } from './tolerations.ts'
export { fnv1, fnv1a } from './fnv.ts'
export { canonicalJson } from './canonical-json.ts'
export { revisionHash } from './revision-hash.ts'
export { CronSchedule } from './cron/cron-schedule.ts'
export { UTC, formatZonedTime, isKnownTimeZone, timeZoneNamed } from './cron/time-zone.ts'
export type { TimeZone } from './cron/time-zone.ts'
