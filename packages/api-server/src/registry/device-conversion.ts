/**
 * The kinds of resource.k8s.io in v1beta1, whose devices have all but their name under `basic`, and whose requests say themselves
 * what they want. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Dynamic resource allocation".
 */
import { emptyGiven, forgetEmpty, passEmpties } from '@gyropilot/schema/given-value'
import type { Draft, Stored } from '@gyropilot/schema/objects'

type Conversion = (part: Stored) => Draft

/** From v1beta1 to v1, and back. */
interface BothWays {
  readonly toStored: Conversion
  readonly fromStored: Conversion
}

const WANTED = [
  'deviceClassName',
  'selectors',
  'allocationMode',
  'count',
  'adminAccess',
  'tolerations',
  'capacity',
]

/** Without anything wanted there is no `exactly`; a list that is given empty is wanted. Only with a class there are defaults. */
function requestToStored(request: Stored): Draft {
  const kept = changed(request)
  const exactly = changed(request)
  for (const field of Object.keys(request)) delete (WANTED.includes(field) ? kept : exactly)[field]
  if (!WANTED.some((field) => isWanted(exactly, field))) return kept
  // Tolerations are converted one by one, where none becomes nothing.
  forgetEmpty(exactly, 'tolerations')
  if (!exactly['deviceClassName']) {
    exactly['deviceClassName'] = ''
    // No client can send such a mode, and no default takes its place.
    exactly['allocationMode'] ??= ''
  }
  return { ...kept, exactly }
}

function isWanted(request: Stored, field: string): boolean {
  const value: unknown = request[field]
  if (value === '') return field === 'allocationMode'
  return Boolean(value) || value === false || Array.isArray(emptyGiven(request, field))
}

function requestFromStored(request: Stored): Draft {
  const { name, exactly, ...rest } = request
  const flat = { name, deviceClassName: '', ...exactly, ...rest }
  passEmpties(exactly ?? request, flat)
  return flat
}

function deviceToStored({ basic, ...device }: Stored): Draft {
  const flat = { ...device, ...basic }
  if (basic) passEmpties(basic, flat)
  return flat
}

function deviceFromStored(device: Stored): Draft {
  const { name, ...basic } = device
  passEmpties(device, basic)
  return { name, basic }
}

const requests = inLists('requests', requestToStored, requestFromStored)
const devices = inLists('devices', deviceToStored, deviceFromStored)

/** By kind; others have the fields of v1. */
export const deviceConversions: Readonly<Record<string, BothWays>> = {
  resourceclaims: within(['spec', 'devices'], requests),
  resourceclaimtemplates: within(['spec', 'spec', 'devices'], requests),
  resourceslices: within(['spec'], withoutEmptyName(devices)),
}

/** The name of a node is no pointer in v1beta1: an empty one is none. */
function withoutEmptyName({ toStored, fromStored }: BothWays): BothWays {
  return {
    toStored(spec) {
      forgetEmpty(spec, 'nodeName')
      return toStored(spec)
    },
    fromStored,
  }
}

function inLists(field: string, toStored: Conversion, fromStored: Conversion): BothWays {
  const each =
    (convert: Conversion): Conversion =>
    (holder) => {
      const list: readonly Stored[] | null | undefined = holder[field]
      return list ? changed(holder, { [field]: list.map(convert) }) : holder
    }
  return { toStored: each(toStored), fromStored: each(fromStored) }
}

function within([field, ...rest]: readonly string[], inner: BothWays): BothWays {
  if (field === undefined) return inner
  const { toStored, fromStored } = within(rest, inner)
  const member =
    (convert: Conversion): Conversion =>
    (holder) =>
      holder[field] ? changed(holder, { [field]: convert(holder[field]) }) : holder
  return { toStored: member(toStored), fromStored: member(fromStored) }
}

/** A copy that knows what was given empty. */
function changed(part: Stored, changes: Stored = {}): Draft {
  const copy = { ...part, ...changes }
  passEmpties(part, copy)
  return copy
}
