/** Scales of custom resources, whose selectors are texts that anybody writes. Pure. */
import { LabelQuery, parseLabelQuery } from '@gyropilot/api'
import type { DiscoveredResource, LabelRequirement, ResourceType, Scale } from '@gyropilot/api'
import { asType } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'

/** Where the scale of an object is asked for: as upstream in a namespace, also where the kind has none and nothing is found. */
export function scaledType(resource: DiscoveredResource): ResourceType {
  return { ...asType(resource), namespaced: true }
}

/**
 * The scale with its selector in the words of a LabelSelector, by key. Of two `=` for one key the last one counts, as in a map of
 * labels. Throws where no LabelSelector can say it: as upstream, such a scale cannot be read.
 */
export function readableScale(scale: Scale): Scale {
  const text = scale.status?.selector ?? ''
  if (text === '') return scale
  try {
    return { ...scale, status: { ...scale.status!, selector: plainSelector(text) } }
  } catch (error) {
    throw new Error(
      `received an object from a /scale endpoint which was not convertible to autoscaling Scale: failed to parse target selector: ${errorText(error)}`,
      { cause: error },
    )
  }
}

function plainSelector(text: string): string {
  const labels = new Map<string, LabelRequirement>()
  const expressions: LabelRequirement[] = []
  for (const requirement of requirementsOf(text)) {
    const { key, operator } = requirement
    if (operator === '=' || operator === '==') labels.set(key, { ...requirement, operator: '=' })
    else if (operator === 'gt' || operator === 'lt')
      throw new Error(`${JSON.stringify(operator)} isn't supported in label selectors`)
    else if (operator === '!=') throw new Error('"!=" is not a valid label selector operator')
    else expressions.push(requirement)
  }
  return LabelQuery.of([...labels.values(), ...expressions]).toString()
}

function requirementsOf(selector: string): readonly LabelRequirement[] {
  try {
    return parseLabelQuery(selector).requirements
  } catch (error) {
    throw new Error(`couldn't parse the selector string "${selector}": ${errorText(error)}`, {
      cause: error,
    })
  }
}
