/** Where services are, as variables: each by its name, in the two forms that a kubelet writes. Pure. */
import { hostAndPort } from '@gyropilot/api'
import type { Service } from '@gyropilot/api'

const inVariable = (name: string): string => name.replaceAll('-', '_').toUpperCase()

/** Services without an address of their own are left out. */
export function serviceVariables(services: readonly Service[]): ReadonlyMap<string, string> {
  const variables = new Map<string, string>()
  for (const { metadata, spec } of services) {
    const ip = spec?.clusterIP ?? ''
    const ports = spec?.ports ?? []
    if (ip === '' || ip === 'None' || ports.length === 0) continue
    const name = inVariable(metadata?.name ?? '')
    variables.set(`${name}_SERVICE_HOST`, ip)
    variables.set(`${name}_SERVICE_PORT`, String(ports[0]!.port))
    for (const { name: portName, port } of ports)
      if (portName) variables.set(`${name}_SERVICE_PORT_${inVariable(portName)}`, String(port))
    for (const [index, { port, protocol = 'TCP' }] of ports.entries()) {
      const url = `${protocol.toLowerCase()}://${hostAndPort(ip, port)}`
      const prefix = `${name}_PORT_${port}_${protocol}`
      if (index === 0) variables.set(`${name}_PORT`, url)
      variables.set(prefix, url)
      variables.set(`${prefix}_PROTO`, protocol.toLowerCase())
      variables.set(`${prefix}_PORT`, String(port))
      variables.set(`${prefix}_ADDR`, ip)
    }
  }
  return variables
}
