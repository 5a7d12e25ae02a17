import type { ClusterRole, PolicyRule, Role, RoleBinding, Subject } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import {
  invalidAll,
  isConvertibleSelector,
  validateLabelSelector,
} from '@gyropilot/schema/validation/labels'
import type { NameCheck } from '@gyropilot/schema/validation/metadata'
import { dnsSubdomain, pathSegment } from '@gyropilot/schema/validation/names'
import { tableColumns } from '../columns.ts'
import { nullWhenEmpty } from '../workload-template.ts'

const GROUP = 'rbac.authorization.k8s.io'

function validateRules(
  rules: readonly StoredOf<PolicyRule>[] | undefined,
  namespaced: boolean,
  errors: FieldErrors,
): void {
  for (const [index, rule] of (rules ?? []).entries()) {
    const at = `rules[${index}]`
    if ((rule.verbs ?? []).length === 0)
      errors.required(`${at}.verbs`, 'verbs must contain at least one value')
    if ((rule.nonResourceURLs ?? []).length > 0) {
      if (namespaced)
        errors.invalid(
          `${at}.nonResourceURLs`,
          rule.nonResourceURLs,
          'namespaced rules cannot apply to non-resource URLs',
        )
      if (
        (rule.apiGroups ?? []).length > 0 ||
        (rule.resources ?? []).length > 0 ||
        (rule.resourceNames ?? []).length > 0
      ) {
        errors.invalid(
          `${at}.nonResourceURLs`,
          rule.nonResourceURLs,
          'rules cannot apply to both regular resources and non-resource URLs',
        )
      }
      continue
    }
    if ((rule.apiGroups ?? []).length === 0)
      errors.required(`${at}.apiGroups`, 'resource rules must supply at least one api group')
    if ((rule.resources ?? []).length === 0)
      errors.required(`${at}.resources`, 'resource rules must supply at least one resource')
  }
}

/** A name that fits into a path, and so does what is to be completed to one. */
const wholeSegment: NameCheck = (name) => pathSegment(name)

export const role: KindRules<Role> = {
  group: GROUP,
  kind: 'Role',
  name: wholeSegment,
  generationOf: null,
  createOnUpdate: true,
  canonicalize: (object) => nullWhenEmpty(object, 'rules'),
  validate: (object, errors) => validateRules(object.rules, true, errors),
}

export const clusterRole: KindRules<ClusterRole> = {
  group: GROUP,
  kind: 'ClusterRole',
  name: wholeSegment,
  generationOf: null,
  createOnUpdate: true,
  canonicalize: (object) => nullWhenEmpty(object, 'rules'),
  validate(object, errors) {
    validateRules(object.rules, false, errors)
    if (!object.aggregationRule) return
    const selectors = object.aggregationRule.clusterRoleSelectors ?? []
    if (selectors.length === 0)
      errors.required(
        'aggregationRule.clusterRoleSelectors',
        'at least one clusterRoleSelector required if aggregationRule is non-nil',
      )
    for (const [index, selector] of selectors.entries()) {
      const at = `aggregationRule.clusterRoleSelectors[${index}]`
      validateLabelSelector(selector, errors, at)
      if (!isConvertibleSelector(selector)) errors.invalid(at, null, 'invalid label selector.')
    }
  },
}

function validateSubject(
  subject: StoredOf<Subject>,
  namespaced: boolean,
  errors: FieldErrors,
  field: string,
): void {
  const { kind = '', name = '', namespace = '', apiGroup = '' } = subject
  if (name === '') errors.required(`${field}.name`)
  if (kind === 'ServiceAccount') {
    if (name !== '') invalidAll(errors, `${field}.name`, name, dnsSubdomain(name))
    if (apiGroup !== '') errors.notSupported(`${field}.apiGroup`, apiGroup, [''])
    if (!namespaced && namespace === '') errors.required(`${field}.namespace`)
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== GROUP) errors.notSupported(`${field}.apiGroup`, apiGroup, [GROUP])
  } else errors.notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group'])
}

function binding(kind: 'RoleBinding' | 'ClusterRoleBinding'): KindRules<RoleBinding> {
  const namespaced = kind === 'RoleBinding'
  const roleKinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  return {
    group: GROUP,
    kind,
    name: wholeSegment,
    generationOf: null,
    createOnUpdate: true,
    defaults(object) {
      if (object.roleRef && !object.roleRef.apiGroup) object.roleRef.apiGroup = GROUP
      for (const subject of object.subjects ?? []) {
        if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group'))
          subject.apiGroup = GROUP
      }
    },
    validate(object, errors) {
      const { apiGroup = '', kind: roleKind = '', name = '' } = object.roleRef ?? {}
      if (apiGroup !== GROUP) errors.notSupported('roleRef.apiGroup', apiGroup, [GROUP])
      if (!roleKinds.includes(roleKind)) errors.notSupported('roleRef.kind', roleKind, roleKinds)
      if (name === '') errors.required('roleRef.name')
      else invalidAll(errors, 'roleRef.name', name, pathSegment(name))
      for (const [index, subject] of (object.subjects ?? []).entries())
        validateSubject(subject, namespaced, errors, `subjects[${index}]`)
    },
    validateUpdate(object, stored, errors) {
      if (deepEqual(object.roleRef, stored.roleRef)) return
      const { apiGroup = '', kind: roleKind = '', name = '' } = object.roleRef ?? {}
      errors.invalid(
        'roleRef',
        { APIGroup: apiGroup, Kind: roleKind, Name: name },
        'cannot change roleRef',
      )
    },
    columns: tableColumns(
      namespaced
        ? 'rbac.authorization.k8s.io/rolebindings'
        : 'rbac.authorization.k8s.io/clusterrolebindings',
      {
        Role: (object) => `${object.roleRef?.kind ?? ''}/${object.roleRef?.name ?? ''}`,
        Users: subjects('User'),
        Groups: subjects('Group'),
        ServiceAccounts: (object) =>
          (object.subjects ?? [])
            .filter((subject) => subject.kind === 'ServiceAccount')
            .map(({ namespace = '', name }) => `${namespace}/${name}`)
            .join(', '),
      },
    ),
  }
}

function subjects(kind: string) {
  return (object: StoredOf<RoleBinding>): string =>
    (object.subjects ?? [])
      .filter((subject) => subject.kind === kind)
      .map(({ name }) => name)
      .join(', ')
}

export const roleBinding = binding('RoleBinding')
export const clusterRoleBinding = binding('ClusterRoleBinding')
