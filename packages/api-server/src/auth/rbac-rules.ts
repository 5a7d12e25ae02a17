/** PolicyRules by themselves: what they allow, whether one covers another, how they are printed. */
import type { RequestAttributes } from '../contracts.ts'

export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export function ruleAllows(rule: PolicyRule, request: RequestAttributes): boolean {
  if (!hasOrAll(rule.verbs, request.verb)) return false
  if (!request.isResourceRequest)
    return (rule.nonResourceURLs ?? []).some((pattern) => urlMatches(pattern, request.path))
  if (!hasOrAll(rule.apiGroups ?? [], request.group)) return false
  if (!resourceMatches(rule.resources ?? [], request.resource, request.subresource)) return false
  const names = rule.resourceNames ?? []
  return names.length === 0 || names.includes(request.name)
}

/** Whether a list of a rule has the value, or `*`. */
export function hasOrAll(list: readonly string[], value: string): boolean {
  return list.includes(value) || list.includes('*')
}

/** `*`, `pods`, `pods/log`, `*` with a subresource. */
function resourceMatches(rules: readonly string[], resource: string, subresource: string): boolean {
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  for (const rule of rules) {
    if (rule === '*' || rule === combined) return true
    if (subresource !== '' && rule.startsWith('*/') && rule.slice(2) === subresource) return true
  }
  return false
}

/** Exact, `*`, or a prefix with one trailing `*`. */
export function urlMatches(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true
  return pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, ''))
}

/**
 * The parts of `wanted` that no rule of `held` covers: each part is one verb on one resource (and name) of one group, or on
 * one URL. Parts are compared one by one, so rights may come from several rules.
 */
export function uncoveredRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): PolicyRule[] {
  return wanted.flatMap(breakdown).filter((part) => !held.some((rule) => covers(rule, part)))
}

function breakdown(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = []
  for (const apiGroup of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs) {
        const part = { verbs: [verb], apiGroups: [apiGroup], resources: [resource] }
        if (rule.resourceNames === undefined || rule.resourceNames.length === 0) parts.push(part)
        else parts.push(...rule.resourceNames.map((name) => ({ ...part, resourceNames: [name] })))
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? []) {
    for (const verb of rule.verbs) parts.push({ verbs: [verb], nonResourceURLs: [url] })
  }
  return parts
}

function covers(rule: PolicyRule, part: PolicyRule): boolean {
  if (!hasOrAll(rule.verbs, part.verbs[0]!)) return false
  const url = part.nonResourceURLs?.[0]
  if (url !== undefined)
    return (rule.nonResourceURLs ?? []).some((pattern) => urlMatches(pattern, url))
  if (!hasOrAll(rule.apiGroups ?? [], part.apiGroups![0]!)) return false
  const resource = part.resources![0]!
  const slash = resource.indexOf('/')
  const isResourceCovered = (rule.resources ?? []).some(
    (held) =>
      held === '*' || held === resource || (slash !== -1 && held === `*${resource.slice(slash)}`),
  )
  if (!isResourceCovered) return false
  const names = rule.resourceNames ?? []
  if (names.length === 0) return true
  const name = part.resourceNames?.[0]
  return name !== undefined && names.includes(name)
}

/** Parts of a resource that differ in the verb only become one line, which has a verb as often as it is named; lines are sorted. */
export function describeRules(parts: readonly PolicyRule[]): string[] {
  const byTarget = new Map<string, PolicyRule>()
  const others: PolicyRule[] = []
  for (const part of parts) {
    if (part.nonResourceURLs !== undefined) {
      others.push(part)
      continue
    }
    const target = JSON.stringify([part.apiGroups, part.resources, part.resourceNames])
    const known = byTarget.get(target)
    const verbs = [...(known?.verbs ?? []), ...part.verbs]
    byTarget.set(target, { ...part, verbs })
  }
  return [...byTarget.values(), ...others].map(describeRule).toSorted()
}

/** `{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}` */
function describeRule(rule: PolicyRule): string {
  const fields: string[] = []
  const add = (label: string, values: readonly string[] | undefined): void => {
    if (values !== undefined && values.length > 0)
      fields.push(`${label}:${quotedList(values, ' ')}`)
  }
  add('APIGroups', rule.apiGroups)
  add('Resources', rule.resources)
  add('NonResourceURLs', rule.nonResourceURLs)
  add('ResourceNames', rule.resourceNames)
  add('Verbs', rule.verbs)
  return `{${fields.join(', ')}}`
}

/** `["a" "b"]` */
export function quotedList(values: readonly string[], separator: string): string {
  return `[${values.map((value) => JSON.stringify(value)).join(separator)}]`
}
