// An authorization server on this machine whose users agree to everything. It
// is told by lines on standard input, and answers each with a line of JSON:
//
//	user NAME   who logs in from now on; %XX is a byte of the name
//	rotate      sign with a new key, and forget the old one
//	fetches     how often the key set was asked for

import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import Provider from 'oidc-provider'

// It warns of what is meant here: memory that goes with the process.
console.info = console.warn = () => {}

const scopes = 'records:read records:write'
let user = 'ann'
let fetches = 0
let provider

const server = createServer((request, response) => {
  if (request.url === '/jwks') fetches++
  const answer = request.url.startsWith('/interaction/') ? agree(request, response) : provider.callback()(request, response)
  Promise.resolve(answer).catch((error) => {
    console.error(error)
    response.destroy()
  })
})

// agree logs the user in, and then grants what the client asks for.
async function agree(request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: user, remember: false } })
  }
  const grant = (grantId && await provider.Grant.find(grantId)) || new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
  if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '))
  for (const [resource, missing] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, missing.join(' '))
  }
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true })
}

function start() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { ...privateKey.export({ format: 'jwk' }), kid: randomBytes(8).toString('hex'), use: 'sig', alg: 'ES256' }
  provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({ scope: scopes, audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600, jwt: { sign: { alg: 'ES256' } } }),
      },
    },
  })
  provider.on('server_error', (_, error) => console.error(error))
  return key.kid
}

server.listen(0, '127.0.0.1', () => {
  start()
  console.log(JSON.stringify({ issuer: provider.issuer }))
})

createInterface({ input: process.stdin }).on('line', (line) => {
  const [command, value] = line.split(' ')
  if (command === 'user') user = decodeURIComponent(value)
  const kid = command === 'rotate' ? start() : undefined
  console.log(JSON.stringify({ user, kid, fetches }))
}).on('close', () => process.exit(0))
