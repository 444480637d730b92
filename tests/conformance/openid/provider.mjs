// A certified OpenID provider (panva's oidc-provider), for one client, with the groups of its people in a file.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, port, back, groups] = process.argv.slice(2);
const path = createRequire(`${modules}/`).resolve("oidc-provider");
const { default: Provider } = await import(pathToFileURL(path).href);
const url = `http://127.0.0.1:${port}`;
const provider = new Provider(url, {
  clients: [{
    client_id: "signalbox-page", client_secret: "a secret that nobody guesses", redirect_uris: [back],
    grant_types: ["authorization_code", "refresh_token"], response_types: ["code"],
  }],
  pkce: { required: () => true },
  ttl: { AccessToken: 2 }, // seconds, so that tokens are renewed
  claims: { openid: ["sub"], profile: ["name", "groups"] },
  features: { devInteractions: { enabled: true }, revocation: { enabled: true } },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: `Person ${id}`, groups: JSON.parse(readFileSync(groups, "utf8"))[id] ?? [] }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log(url));
