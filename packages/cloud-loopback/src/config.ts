/** The text of --cloud-config for this cloud: YAML or JSON. Pure. */
import { suggestion } from '@gyropilot/foundation'
import { yamlValue } from '@gyropilot/foundation/yaml'
import { loopbackNetwork } from './addresses.ts'

export interface LoopbackConfig {
  /** Of balancers. Default `127.80.0.0/16`. */
  readonly addresses: string
  /** Of machines. Default `127.81.0.0/16`. */
  readonly machineAddresses: string
  /** Default `loopback-1`. */
  readonly region: string
  /** Default `loopback-1a`, `-1b` and `-1c`. */
  readonly zones: readonly string[]
  /** `host:port` of the control endpoint; empty: there is none. Default empty. */
  readonly control: string
}

const DEFAULTS: LoopbackConfig = {
  addresses: '127.80.0.0/16',
  machineAddresses: '127.81.0.0/16',
  region: 'loopback-1',
  zones: ['loopback-1a', 'loopback-1b', 'loopback-1c'],
  control: '',
}

/** Throws a text that says what and where. */
export function loopbackConfig(text = ''): LoopbackConfig {
  const given = (yamlValue(text) ?? {}) as Record<string, unknown>
  if (typeof given !== 'object' || Array.isArray(given))
    throw new Error('the file is no map of settings')
  for (const key of Object.keys(given)) {
    if (Object.hasOwn(DEFAULTS, key)) continue
    const known = Object.keys(DEFAULTS)
    throw new Error(
      `unknown setting ${key}${suggestion(key, known) || `: use ${known.join(', ')}`}`,
    )
  }
  for (const key of ['addresses', 'machineAddresses', 'region', 'control'] as const)
    if (key in given && typeof given[key] !== 'string') throw new Error(`${key} is not a text`)
  const config = { ...DEFAULTS, ...(given as Partial<LoopbackConfig>) }
  const areZones = (zones: unknown): boolean =>
    Array.isArray(zones) && zones.length > 0 && zones.every((zone) => typeof zone === 'string')
  if (!areZones(config.zones)) throw new Error('zones is not a list of names')
  for (const key of ['addresses', 'machineAddresses'] as const) {
    try {
      loopbackNetwork(config[key])
    } catch (error) {
      throw new Error(`${key}: ${(error as Error).message}`, { cause: error })
    }
  }
  if (config.control !== '') controlAddress(config.control)
  return config
}

export function controlAddress(text: string): { readonly host: string; readonly port: number } {
  const [, host, digits] = /^(127\.[\d.]+|localhost):(\d{1,5})$/.exec(text) ?? []
  if (host === undefined || Number(digits) > 65_535)
    throw new Error(
      `control: ${JSON.stringify(text)} is not a port of this machine, such as 127.0.0.1:8123`,
    )
  return { host, port: Number(digits) }
}
