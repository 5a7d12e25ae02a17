/**
 * Who may use which name: definitions of a group share plurals, singulars and short names among each other, and kinds.
 * Contract: docs/behaviour/api-server/custom-resources.md, Conditions.
 */
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import type { Condition } from './conditions.ts'
import { authoritiesProblemOf } from '../conversion-validation.ts'
import { ESTABLISHED, UNREACHABLE, findCondition } from './conditions.ts'
import { APPROVAL_ANNOTATION, isProtected } from './definition-validation.ts'

interface Naming {
  readonly acceptedNames: Draft
  readonly namesAccepted: Condition
  /** Before the definition is established; undefined leaves the condition as it is. */
  readonly established: Condition | undefined
}

/** Judges the names that a definition asks for; `others` are the other definitions of its group. */
export function judgeNames(definition: Stored, others: readonly Stored[]): Naming {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const other of others) {
    const { plural, singular, shortNames, kind, listKind }: Stored =
      other['status']?.acceptedNames ?? {}
    for (const name of [plural, singular, ...(shortNames ?? [])]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  const asked: Stored = definition['spec'].names
  const before: Stored = definition['status']?.acceptedNames ?? {}
  const acceptedNames: Draft = { plural: '', kind: '', ...before }
  let refusal: Condition | undefined
  const settle = (field: string, used: ReadonlySet<string>, reason: string): void => {
    const name: string = asked[field] ?? ''
    if (name === '' || name === before[field] || !used.has(name)) {
      if (name === '') delete acceptedNames[field]
      else acceptedNames[field] = name
    } else refusal = refused(reason, inUse(name))
  }
  settle('plural', resources, 'PluralConflict')
  settle('singular', resources, 'SingularConflict')
  refusal = settleShortNames(asked, before, acceptedNames, resources) ?? refusal
  settle('kind', kinds, 'KindConflict')
  settle('listKind', kinds, 'ListKindConflict')
  if (asked['categories'] === undefined) delete acceptedNames['categories']
  else acceptedNames['categories'] = asked['categories']
  const namesAccepted: Condition = refusal ?? {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  }
  return { acceptedNames, namesAccepted, established: establishment(definition, namesAccepted) }
}

function settleShortNames(
  asked: Stored,
  before: Stored,
  acceptedNames: Draft,
  used: ReadonlySet<string>,
): Condition | undefined {
  const names: readonly string[] = asked['shortNames'] ?? []
  const held: readonly string[] = before['shortNames'] ?? []
  const taken = names.filter((name) => !held.includes(name) && used.has(name))
  if (taken.length > 0) {
    const texts = taken.map(inUse)
    return refused('ShortNamesConflict', texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
  }
  if (names.length === 0) delete acceptedNames['shortNames']
  else acceptedNames['shortNames'] = names
  return undefined
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`
}

function refused(reason: string, message: string): Condition {
  return { type: 'NamesAccepted', status: 'False', reason, message }
}

function establishment(definition: Stored, namesAccepted: Condition): Condition | undefined {
  const now = findCondition(definition, 'Established')
  if (now?.['status'] === 'True') return undefined
  if (namesAccepted.status === 'True') {
    const waits =
      now?.['reason'] === UNREACHABLE.reason &&
      authoritiesProblemOf(definition['spec'].conversion) !== undefined
    return waits ? undefined : { ...ESTABLISHED, status: 'False', reason: 'Installing' }
  }
  if (now !== undefined) return undefined
  return {
    type: 'Established',
    status: 'False',
    reason: 'NotAccepted',
    message: 'not all names are accepted',
  }
}

const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** The condition of definitions in groups of the Kubernetes project; undefined for other groups. */
export function judgeApproval(definition: Stored): Condition | undefined {
  if (!isProtected(definition['spec'].group)) return undefined
  const value: string = definition['metadata'].annotations?.[APPROVAL_ANNOTATION] ?? ''
  const type = 'KubernetesAPIApprovalPolicyConformant'
  const required = `protected groups must have approval annotation "${APPROVAL_ANNOTATION}"`
  if (value === '')
    return { type, status: 'False', reason: 'MissingAnnotation', message: `${required}, ${SEE}` }
  if (value.startsWith('unapproved')) {
    return {
      type,
      status: 'False',
      reason: 'UnapprovedAnnotation',
      message: `not approved: ${JSON.stringify(value)}`,
    }
  }
  if (!URL.canParse(value) || new URL(value).host === '') {
    const message = `${required} with either a URL or a reason starting with "unapproved", ${SEE}`
    return { type, status: 'False', reason: 'InvalidAnnotation', message }
  }
  return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${value}` }
}
