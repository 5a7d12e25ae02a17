/**
 * Expressions that choose devices for claims: `device.attributes["gpu.example.com"].model == "a"`.
 * Contract: docs/behaviour/simulation/scheduler.md, Devices.
 */
import type { Device, DeviceAttribute } from '@gyropilot/api'
import { CostMeter, RULES_ENVIRONMENT, compile } from './index.ts'
import type { Compiled } from './index.ts'
import { quantityValue } from './libraries/quantity.ts'
import { semverValue } from './libraries/semver.ts'
import {
  BOOL,
  DYN,
  STRING,
  mapType,
  objectType,
  opaqueType,
  fullTypeText,
} from './checking/types.ts'
import { ArrayList, CelMap, EMPTY_MAP, EntryMap, EvaluationError } from './values/values.ts'
import type { Value } from './values/values.ts'

/** What one selector may cost for one device, as upstream bounds it. */
const COST_LIMIT = 1_000_000

const DEVICE_TYPE = objectType('kubernetes.DRADevice', {
  driver: STRING,
  allowMultipleAllocations: BOOL,
  attributes: mapType(STRING, mapType(STRING, DYN)),
  capacity: mapType(STRING, mapType(STRING, opaqueType('kubernetes.Quantity'))),
})

const DEVICE_ENVIRONMENT = RULES_ENVIRONMENT.withVariables({ device: DEVICE_TYPE }).withBindings()

export interface DeviceSelector {
  /** Throws EvaluationError, or CostExceeded. */
  selects(driver: string, device: Device): boolean
}

/** Throws CompileError or ProgramError; an expression of another type than bool is a TypeError. */
export function compileDeviceSelector(expression: string): DeviceSelector {
  const program: Compiled = compile(expression, DEVICE_ENVIRONMENT, (type) => {
    if (type.kind !== 'bool' && type.kind !== 'dyn')
      throw new TypeError(`must evaluate to bool or the unknown type, not ${fullTypeText(type)}`)
  })
  return {
    selects(driver, device) {
      const value = deviceValue(driver, device)
      const found = program.evaluate(
        (name) => (name === 'device' ? value : undefined),
        new CostMeter(COST_LIMIT),
      )
      if (typeof found !== 'boolean') throw new EvaluationError('must evaluate to bool')
      return found
    },
  }
}

function deviceValue(driver: string, device: Device): Value {
  const { attributes = {}, capacity = {}, allowMultipleAllocations = false } = device
  const fields: readonly (readonly [string, Value])[] = [
    ['driver', driver],
    ['allowMultipleAllocations', allowMultipleAllocations],
    ['attributes', byDomain(driver, attributes, attributeValue)],
    ['capacity', byDomain(driver, capacity, ({ value }) => quantityValue(String(value)))],
  ]
  const value = new EntryMap()
  for (const [name, field] of fields) value.insert(name, field)
  return value
}

/** Names without a domain are in that of the driver. */
function byDomain<T>(
  driver: string,
  entries: Readonly<Record<string, T>>,
  valueOfEntry: (entry: T) => Value,
): Value {
  const domains = new Map<string, EntryMap>()
  for (const [name, entry] of Object.entries(entries)) {
    const slash = name.indexOf('/')
    const domain = slash < 0 ? driver : name.slice(0, slash)
    const known = domains.get(domain) ?? new EntryMap()
    known.insert(name.slice(slash + 1), valueOfEntry(entry))
    domains.set(domain, known)
  }
  return new Domains(domains)
}

function attributeValue({ bool, int, string, version, ...lists }: DeviceAttribute): Value {
  if (bool !== undefined) return bool
  if (int !== undefined) return BigInt(int)
  if (string !== undefined) return string
  if (version !== undefined) return semverValue(version)
  const { bools, ints, strings, versions } = lists
  return new ArrayList(
    bools ?? ints?.map(BigInt) ?? strings ?? (versions ?? []).map((each) => semverValue(each)),
  )
}

/** Every domain is there, most of them with nothing in them: what is asked of an unknown one is a key that is missing. */
class Domains extends CelMap {
  readonly #domains: ReadonlyMap<string, EntryMap>

  constructor(domains: ReadonlyMap<string, EntryMap>) {
    super()
    this.#domains = domains
  }

  override get size(): number {
    return this.#domains.size
  }

  override get(key: Value): Value | undefined {
    return typeof key === 'string' ? (this.#domains.get(key) ?? EMPTY_MAP) : undefined
  }

  override keys(): Iterable<Value> {
    return this.#domains.keys()
  }
}
