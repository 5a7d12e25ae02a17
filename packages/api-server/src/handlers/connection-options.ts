/** What CONNECT asks for, as admission sees it: the options of the query, in the kind of the subresource. */
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { SubresourceCall } from '../contracts.ts'
import { isAsked } from '../subresources/query-flag.ts'

interface Connection extends Pick<SubresourceCall, 'resource' | 'subresource' | 'query'> {
  /** Behind the name and `proxy` of the URL, of a proxy. */
  readonly path: string
}

const FLAGS = ['stdin', 'stdout', 'stderr', 'tty']

export function connectionOptions({ resource, subresource, query, path }: Connection): Draft {
  const { kind, version } = resource.subresources.find(({ name }) => name === subresource)!
  return { kind, apiVersion: version, ...optionsOf(subresource, query, path) }
}

function optionsOf(subresource: string, query: URLSearchParams, path: string): object {
  switch (subresource) {
    case 'proxy':
      return path === '' ? {} : { path }
    case 'portforward': {
      const ports = query.getAll('ports').flatMap((value) => value.split(','))
      return ports.length === 0 ? {} : { ports: ports.map(Number) }
    }
    default: {
      const container = query.get('container') ?? ''
      const command = query.getAll('command')
      return {
        ...Object.fromEntries(
          FLAGS.filter((flag) => isAsked(query, flag)).map((flag) => [flag, true]),
        ),
        ...(container === '' ? {} : { container }),
        ...(subresource === 'exec' ? { command: command.length === 0 ? null : command } : {}),
      }
    }
  }
}

/** The query that asks for what admission has made of the options. What goes to a proxy goes on as it was sent. */
export function connectionQuery(
  { subresource, query }: Pick<Connection, 'subresource' | 'query'>,
  options: Stored,
): URLSearchParams {
  if (subresource === 'proxy') return query
  const asked = new URLSearchParams()
  for (const flag of FLAGS) if (options[flag] === true) asked.append(flag, 'true')
  if (options['container']) asked.append('container', options['container'])
  for (const word of options['command'] ?? []) asked.append('command', word)
  for (const port of options['ports'] ?? []) asked.append('ports', String(port))
  return asked
}
