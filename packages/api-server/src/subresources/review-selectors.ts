/** The selectors that an access review asks about: what is wrong with them, and what authorizers are told of them. */
import { escapeFieldValue, parseFieldQuery, parseLabelQuery } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { labelValue, qualifiedName } from '@gyropilot/schema/validation/names'
import type { Draft } from '@gyropilot/schema/objects'

type SelectorName = 'fieldSelector' | 'labelSelector'

const NAMES: readonly SelectorName[] = ['fieldSelector', 'labelSelector']

export function checkSelectors({ resourceAttributes }: Draft, errors: FieldErrors): void {
  for (const name of NAMES) {
    const selector = resourceAttributes?.[name]
    if (selector === undefined) continue
    const field = `spec.resourceAttributes.${name}`
    const { rawSelector = '', requirements = [] } = selector
    if (rawSelector !== '' && requirements.length > 0)
      errors.invalid(
        `${field}.rawSelector`,
        rawSelector,
        'may not specified at the same time as requirements',
      )
    if (rawSelector === '' && requirements.length === 0)
      errors.required(
        `${field}.requirements`,
        `when ${field} is specified, requirements or rawSelector is required`,
      )
    for (const [index, requirement] of (requirements as Draft[]).entries())
      checkRequirement(name, requirement, errors, `${field}.requirements[${index}]`)
  }
}

/** Operators are not judged here: what authorizers cannot use is ignored, and told of. */
function checkRequirement(
  name: SelectorName,
  { key = '', operator = '', values = [] }: Draft,
  errors: FieldErrors,
  at: string,
): void {
  if (name === 'fieldSelector' && key === '') errors.required(`${at}.key`, 'must be specified')
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
    errors.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
    errors.forbidden(
      `${at}.values`,
      "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    )
  if (name === 'fieldSelector') return
  invalidAll(errors, `${at}.key`, key, qualifiedName(key))
  for (const [index, value] of (values as string[]).entries())
    invalidAll(errors, `${at}.values[${index}]`, value, labelValue(value))
}

interface AskedSelectors {
  /** As in the query of a request; what cannot be read is left out. */
  readonly fieldSelector?: string
  readonly labelSelector?: string
  /** What was left out. */
  readonly problems: readonly string[]
}

export function askedSelectors(resourceAttributes: Draft): AskedSelectors {
  const texts: { fieldSelector?: string; labelSelector?: string } = {}
  const problems: string[] = []
  for (const name of NAMES) {
    const selector = resourceAttributes[name]
    if (selector === undefined) continue
    const { text, ignored } = readSelector(name, selector)
    if (text !== '') texts[name] = text
    if (ignored)
      problems.push(
        `spec.resourceAttributes.${name} ${text === '' ? 'ignored' : 'partially ignored'} due to parse error`,
      )
  }
  return { ...texts, problems }
}

function readSelector(
  name: SelectorName,
  { rawSelector = '', requirements = [] }: Draft,
): { text: string; ignored: boolean } {
  if (rawSelector !== '') {
    const isRead = readable(() =>
      name === 'fieldSelector' ? parseFieldQuery(rawSelector) : parseLabelQuery(rawSelector),
    )
    return { text: isRead ? rawSelector : '', ignored: !isRead }
  }
  const toText = name === 'fieldSelector' ? fieldText : labelText
  const texts = (requirements as Draft[]).map(toText)
  const known = texts.filter((text) => text !== undefined)
  return { text: known.join(','), ignored: known.length < texts.length }
}

function readable(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}

/** Fields are compared with one value. */
function fieldText({ key, operator, values = [] }: Draft): string | undefined {
  if (values.length !== 1) return undefined
  const value = escapeFieldValue(values[0])
  if (operator === 'In') return `${key}=${value}`
  return operator === 'NotIn' ? `${key}!=${value}` : undefined
}

function labelText({ key, operator, values = [] }: Draft): string | undefined {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`
    case 'NotIn':
      return `${key} notin (${values.join(',')})`
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${key}`
    default:
      return undefined
  }
}
