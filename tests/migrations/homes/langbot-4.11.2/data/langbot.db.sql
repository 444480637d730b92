CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES ('0040_session_summaries');
CREATE TABLE bots (
	uuid VARCHAR(255) NOT NULL, 
	workspace_uuid VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	description VARCHAR(255) NOT NULL, 
	adapter VARCHAR(255) NOT NULL, 
	adapter_config JSON NOT NULL, 
	enable BOOLEAN NOT NULL, 
	event_bindings JSON DEFAULT '[]' NOT NULL, 
	plugin_processors JSON DEFAULT '[]' NOT NULL, 
	created_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	updated_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	PRIMARY KEY (uuid), 
	CONSTRAINT uq_bots_workspace_uuid UNIQUE (workspace_uuid, uuid), 
	UNIQUE (uuid), 
	FOREIGN KEY(workspace_uuid) REFERENCES workspaces (uuid) ON DELETE CASCADE
);
INSERT INTO bots VALUES ('00000000-0000-4000-8000-000000000011', '00000000-0000-4000-8000-000000000012', 'Home', 'The home bot', 'telegram', '{"token": "7000000001:AAExampleExampleExampleExampleExample01", "markdown_card": true, "enable-stream-reply": false}', 0, '[{"id": "00000000-0000-4000-8000-000000000013", "event_pattern": "message.received", "target_type": "pipeline", "target_uuid": "00000000-0000-4000-8000-000000000014", "filters": [{"field": "chat_type", "operator": "eq", "value": "person"}], "priority": 0, "enabled": true, "description": "Private chat: respond directly", "order": 0}, {"id": "00000000-0000-4000-8000-000000000015", "event_pattern": "message.received", "target_type": "pipeline", "target_uuid": "00000000-0000-4000-8000-000000000014", "filters": [{"field": "chat_type", "operator": "eq", "value": "group"}, {"field": "is_at_bot", "operator": "eq", "value": true}], "priority": 0, "enabled": true, "description": "Group chat: respond only when the bot is @mentioned", "order": 1}]', '[]', '2026-11-27 00:30:11', '2026-11-27 00:30:11');
INSERT INTO bots VALUES ('00000000-0000-4000-8000-000000000016', '00000000-0000-4000-8000-000000000012', 'Work', 'The work bot', 'slack', '{"bot_token": "xoxb-100-200-exampleexample", "signing_secret": "00000000000000000000000000000000", "socket_mode": true, "app_token": "xapp-1-A100-200-exampleexample"}', 0, '[{"id": "00000000-0000-4000-8000-000000000017", "event_pattern": "message.received", "target_type": "pipeline", "target_uuid": "00000000-0000-4000-8000-000000000014", "filters": [{"field": "chat_type", "operator": "eq", "value": "person"}], "priority": 0, "enabled": true, "description": "Private chat: respond directly", "order": 0}, {"id": "00000000-0000-4000-8000-000000000018", "event_pattern": "message.received", "target_type": "pipeline", "target_uuid": "00000000-0000-4000-8000-000000000014", "filters": [{"field": "chat_type", "operator": "eq", "value": "group"}, {"field": "is_at_bot", "operator": "eq", "value": true}], "priority": 0, "enabled": true, "description": "Group chat: respond only when the bot is @mentioned", "order": 1}]', '[]', '2026-11-27 00:30:11', '2026-11-27 00:30:11');
INSERT INTO bots VALUES ('00000000-0000-4000-8000-000000000019', '00000000-0000-4000-8000-000000000012', 'Group', 'A group', 'lark', '{"app_id": "cli_example", "app_secret": "example-secret", "bot_name": "x", "enable-webhook": false, "encrypt-key": "", "enable-stream-reply": false}', 0, '[{"id": "00000000-0000-4000-8000-000000000020", "event_pattern": "message.received", "target_type": "pipeline", "target_uuid": "00000000-0000-4000-8000-000000000014", "filters": [{"field": "chat_type", "operator": "eq", "value": "person"}], "priority": 0, "enabled": true, "description": "Private chat: respond directly", "order": 0}, {"id": "00000000-0000-4000-8000-000000000021", "event_pattern": "message.received", "target_type": "pipeline", "target_uuid": "00000000-0000-4000-8000-000000000014", "filters": [{"field": "chat_type", "operator": "eq", "value": "group"}, {"field": "is_at_bot", "operator": "eq", "value": true}], "priority": 0, "enabled": true, "description": "Group chat: respond only when the bot is @mentioned", "order": 1}]', '[]', '2026-11-27 00:30:11', '2026-11-27 00:30:11');
CREATE TABLE bot_admins (
	id INTEGER NOT NULL, 
	workspace_uuid VARCHAR(36) NOT NULL, 
	bot_uuid VARCHAR(255) NOT NULL, 
	launcher_type VARCHAR(64) NOT NULL, 
	launcher_id VARCHAR(255) NOT NULL, 
	created_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT uq_bot_admin UNIQUE (workspace_uuid, bot_uuid, launcher_type, launcher_id), 
	CONSTRAINT fk_bot_admins_workspace_bot FOREIGN KEY(workspace_uuid, bot_uuid) REFERENCES bots (workspace_uuid, uuid) ON DELETE CASCADE, 
	FOREIGN KEY(workspace_uuid) REFERENCES workspaces (uuid) ON DELETE CASCADE
);
INSERT INTO bot_admins VALUES (1, '00000000-0000-4000-8000-000000000012', '00000000-0000-4000-8000-000000000011', 'person', '1001', '2026-11-27 00:30:11');
CREATE TABLE legacy_pipelines (
	uuid VARCHAR(255) NOT NULL, 
	workspace_uuid VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	description VARCHAR(255) NOT NULL, 
	emoji VARCHAR(10), 
	created_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	updated_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	for_version VARCHAR(255) NOT NULL, 
	is_default BOOLEAN NOT NULL, 
	stages JSON NOT NULL, 
	config JSON NOT NULL, 
	extensions_preferences JSON NOT NULL, 
	PRIMARY KEY (uuid), 
	CONSTRAINT uq_legacy_pipelines_workspace_uuid UNIQUE (workspace_uuid, uuid), 
	UNIQUE (uuid), 
	FOREIGN KEY(workspace_uuid) REFERENCES workspaces (uuid) ON DELETE CASCADE
);
INSERT INTO legacy_pipelines VALUES ('00000000-0000-4000-8000-000000000014', '00000000-0000-4000-8000-000000000012', 'Support', 'Answers questions', '⚙️', '2026-11-27 00:30:11', '2026-11-27 00:30:11', 'v4.11.2', 1, '["GroupRespondRuleCheckStage", "BanSessionCheckStage", "PreContentFilterStage", "PreProcessor", "RequireRateLimitOccupancy", "MessageProcessor", "ReleaseRateLimitOccupancy", "PostContentFilterStage", "ResponseWrapper", "LongTextProcessStage", "SendResponseBackStage"]', '{"ai": {"runner": {"expire-time": 0, "id": ""}, "runner_config": {}, "local-agent": {"prompt": [{"role": "system", "content": "You are the support desk of Example. Answer briefly."}]}}, "output": {"force-delay": {"max": 0, "min": 0}, "long-text-processing": {"font-path": "", "strategy": "none", "threshold": 1000}, "misc": {"at-sender": true, "exception-handling": "show-hint", "failure-hint": "", "quote-origin": true, "remove-think": false, "track-function-calls": false}}, "safety": {"content-filter": {"check-sensitive-words": true, "scope": "all"}, "rate-limit": {"limitation": 60, "strategy": "drop", "window-length": 60}}, "trigger": {"access-control": {"mode": "whitelist", "blacklist": [], "whitelist": ["person_1001", "group_-1001234567890"]}, "group-respond-rules": {"at": true, "prefix": ["ai"], "random": 0.0, "regexp": []}, "ignore-rules": {"prefix": [], "regexp": []}, "message-aggregation": {"delay": 1.5, "enabled": false}, "misc": {"combine-quote-message": true}}}', '{"enable_all_plugins": true, "enable_all_mcp_servers": true, "plugins": [], "mcp_servers": [], "mcp_resources": [], "mcp_resource_agent_read_enabled": true}');
CREATE TABLE model_providers (
	uuid VARCHAR(255) NOT NULL, 
	workspace_uuid VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	requester VARCHAR(255) NOT NULL, 
	base_url VARCHAR(512) NOT NULL, 
	api_keys JSON NOT NULL, 
	created_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	updated_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	PRIMARY KEY (uuid), 
	CONSTRAINT uq_model_providers_workspace_uuid UNIQUE (workspace_uuid, uuid), 
	UNIQUE (uuid), 
	FOREIGN KEY(workspace_uuid) REFERENCES workspaces (uuid) ON DELETE CASCADE
);
INSERT INTO model_providers VALUES ('00000000-0000-0000-0000-000000000000', '00000000-0000-4000-8000-000000000012', 'LangBot Models', 'space-chat-completions', 'https://api.langbot.cloud/v1', '[]', '2026-11-27 00:25:39', '2026-11-27 00:25:39');
INSERT INTO model_providers VALUES ('00000000-0000-4000-8000-000000000022', '00000000-0000-4000-8000-000000000012', 'OpenAI', 'openai-chat-completions', 'https://api.openai.com/v1', '["sk-example-example-example-example"]', '2026-11-27 00:30:11', '2026-11-27 00:30:11');
CREATE TABLE llm_models (
	uuid VARCHAR(255) NOT NULL, 
	workspace_uuid VARCHAR(36) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	provider_uuid VARCHAR(255) NOT NULL, 
	abilities JSON NOT NULL, 
	context_length INTEGER, 
	reasoning_config JSON DEFAULT '{"level":"provider_default"}' NOT NULL, 
	extra_args JSON NOT NULL, 
	prefered_ranking INTEGER NOT NULL, 
	created_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	updated_at DATETIME DEFAULT CURRENT_TIMESTAMP NOT NULL, 
	PRIMARY KEY (uuid), 
	CONSTRAINT fk_llm_models_workspace_provider FOREIGN KEY(workspace_uuid, provider_uuid) REFERENCES model_providers (workspace_uuid, uuid), 
	UNIQUE (uuid), 
	FOREIGN KEY(workspace_uuid) REFERENCES workspaces (uuid) ON DELETE CASCADE
);
INSERT INTO llm_models VALUES ('00000000-0000-4000-8000-000000000023', '00000000-0000-4000-8000-000000000012', 'gpt-5', '00000000-0000-4000-8000-000000000022', '["func_call"]', NULL, '{"level": "provider_default"}', '{}', 0, '2026-11-27 00:30:11', '2026-11-27 00:30:11');
